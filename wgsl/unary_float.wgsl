// The unary functions of floats, chosen at compile time by KIND; all compute in float32.
//
// `unary(v)` gives the output value. Not an entry point: shader.py puts this text in place of
// wgsl/unary.wgsl's region `function`. NaN gives NaN. The numbers are positions in
// problems/elementwise.py's FLOAT_UNARIES.
// Source: ONNX operators of the same names (Gelu-20, Erf-13, Round-22 to even, Selu-22, Celu-12 ...).

const KIND: u32 = 0u;
const ALPHA: f32 = 0.0;
const BETA: f32 = 0.0;
const LARGEST: f32 = 0x1.fffffep+127f;

// min and max drop NaN on naga and Tint alike, and x != x is folded away: test the bits.
fn is_nan_bits(v: f32) -> bool {
  return (bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u;
}

// Constant expressions may not be infinite: the bits go through a variable.
fn from_bits(bits: u32) -> f32 {
  var stored = bits;
  return bitcast<f32>(stored);
}

fn sigmoid(v: f32) -> f32 {
  return 1.0 / (1.0 + exp(-v));
}

// SwiftShader's tanh is NaN beyond 100.
fn safe_tanh(v: f32) -> f32 {
  return tanh(clamp(v, -15.0, 15.0));
}

// log(1 + exp(v)) without overflow.
fn softplus(v: f32) -> f32 {
  return max(v, 0.0) + log(1.0 + exp(-abs(v)));
}

// Two polynomials, each within 1 ulp where products and sums are fused (N. Juffa's coefficients).
fn erf(v: f32) -> f32 {
  let t = min(abs(v), 4.0);
  let s = t * t;
  if (t > 0.927734375) {
    var r = -1.72853470e-5 * t + 3.83197126e-4;
    r = r * s + (-3.88396438e-3 * t + 2.42546219e-2);
    r = r * t - 1.06777877e-1;
    r = r * t - 6.34846687e-1;
    r = r * t - 1.28717512e-1;
    r = 1.0 - exp(r * t - t);
    return select(r, -r, v < 0.0);
  }
  var r = -5.96761703e-4;
  r = r * s + 4.99119423e-3;
  r = r * s - 2.67681349e-2;
  r = r * s + 1.12819925e-1;
  r = r * s - 3.76125336e-1;
  r = r * s + 1.28379166e-1;
  return r * v + v;
}

// sin(v + quarters * pi / 2): SwiftShader's own is off by 2e-4.
fn sine(v: f32, quarters: i32) -> f32 {
  if (abs(v) > LARGEST) {
    return from_bits(0x7fc00000u);
  }
  let turns = round(v * 0.636619772);
  let r = ((v - turns * 1.5703125) - turns * 4.837512969970703e-4) - turns * 7.549789948768648e-8;
  let s = r * r;
  let q = (i32(turns) + quarters) & 3;
  let odd = r + r * s * (-1.6666654611e-1 + s * (8.3321608736e-3 - s * 1.9515295891e-4));
  let even = 1.0 - 0.5 * s + s * s * (4.166664568298827e-2 + s * (-1.388731625493765e-3 + s * 2.443315711809948e-5));
  let value = select(odd, even, (q & 1) == 1);
  return select(value, -value, q >= 2);
}

// SwiftShader's log takes 0, negative numbers and infinity for something else.
fn natural_log(v: f32) -> f32 {
  if (v < 0.0) {
    return from_bits(0x7fc00000u);
  }
  if (v == 0.0) {
    return from_bits(0xff800000u);
  }
  return select(log(v), v, v > LARGEST);
}

fn rectifiers(v: f32) -> f32 {
  switch KIND {
    case 0u: { return max(v, 0.0); }
    case 3u: { return clamp(ALPHA * v + BETA, 0.0, 1.0); }
    case 4u: { return v * clamp(v * (1.0 / 6.0) + 0.5, 0.0, 1.0); }
    case 6u: {
      let low = select(max(v, ALPHA), v, ALPHA <= -LARGEST);
      return select(min(low, BETA), low, BETA >= LARGEST);
    }
    case 7u: { return select(ALPHA * v, v, v >= 0.0); }
    case 8u: { return select(ALPHA * (exp(min(v, 0.0)) - 1.0), v, v >= 0.0); }
    case 9u: { return BETA * select(ALPHA * (exp(min(v, 0.0)) - 1.0), v, v >= 0.0); }
    case 10u: { return max(v, 0.0) + ALPHA * (exp(min(v, 0.0) / ALPHA) - 1.0); }
    default: { return select(0.0, v, v > ALPHA); }
  }
}

fn curves(v: f32) -> f32 {
  switch KIND {
    case 1u: { return sigmoid(v); }
    case 2u: { return safe_tanh(v); }
    case 5u: { return v * sigmoid(v); }
    case 11u: { return 0.5 * v * (1.0 + erf(v * 0.70710678)); }
    case 12u: { return 0.5 * v * (1.0 + safe_tanh(0.79788456 * (v + 0.044715 * v * v * v))); }
    case 13u: { return erf(v); }
    case 14u: { return v * safe_tanh(softplus(v)); }
    case 15u: { return softplus(v); }
    default: { return v / (1.0 + abs(v)); }
  }
}

fn arithmetic(v: f32) -> f32 {
  switch KIND {
    case 18u: { return abs(v); }
    case 19u: { return -v; }
    case 20u: { return exp(v); }
    case 21u: { return natural_log(v); }
    case 22u: { return select(sqrt(v), from_bits(0x7fc00000u), v < 0.0); }
    case 23u: { return 1.0 / v; }
    case 24u: { return floor(v); }
    case 25u: { return ceil(v); }
    case 26u: { return round(v); }
    case 27u: { return sine(v, 0); }
    case 28u: { return sine(v, 1); }
    case 29u: { return sign(v); }
    default: { return ALPHA * v + BETA; }
  }
}

fn unary(v: f32) -> f32 {
  if (is_nan_bits(v)) {
    return v;
  }
  if (KIND >= 18u) {
    return arithmetic(v);
  }
  if (KIND == 0u || KIND == 3u || KIND == 4u || (KIND >= 6u && KIND <= 10u) || KIND == 17u) {
    return rectifiers(v);
  }
  return curves(v);
}
