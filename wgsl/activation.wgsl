// The activations that kernels fuse into their last pass, chosen at compile time.
//
// `activation(v)` takes a finished sum (bias and residual added) and gives the output value.
// Not an entry point: shader.py puts this text in place of a kernel's region `activation`.
// Source: ONNX Relu-14, Sigmoid-13, Tanh-13, HardSigmoid-22, HardSwish-22, Clip-13, LeakyRelu-16.

const ACTIVATION: u32 = 0u;  // the number in problems/activation.py
const ALPHA: f32 = 0.0;      // hard_sigmoid, leaky_relu: alpha; clip: lo
const BETA: f32 = 0.0;       // hard_sigmoid: beta; clip: hi

// min and max drop NaN on naga and Tint alike, and x != x is folded away: test the bits.
fn is_nan(v: f32) -> bool {
  return (bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u;
}

fn activation(v: f32) -> f32 {
  if (ACTIVATION == 0u || is_nan(v)) {
    return v;
  }
  if (ACTIVATION == 1u) {
    return max(v, 0.0);
  }
  if (ACTIVATION == 2u) {
    return 1.0 / (1.0 + exp(-v));
  }
  if (ACTIVATION == 3u) {
    return tanh(clamp(v, -15.0, 15.0));  // SwiftShader's tanh is NaN beyond 100
  }
  if (ACTIVATION == 4u) {
    return v / (1.0 + exp(-v));
  }
  if (ACTIVATION == 5u) {
    return clamp(ALPHA * v + BETA, 0.0, 1.0);
  }
  if (ACTIVATION == 6u) {
    return v * clamp(v * (1.0 / 6.0) + 0.5, 0.0, 1.0);
  }
  if (ACTIVATION == 7u) {
    return min(max(v, ALPHA), BETA);
  }
  return select(ALPHA * v, v, v >= 0.0);  // 8: leaky_relu
}
