// What average and Lp pooling do to each element (`term`) and to the sum of the terms (`finish`).
//
// Not an entry point: shader.py puts this text in place of a kernel's region `norm`.
// Source: ONNX AveragePool-22, LpPool-22.

const NORM: u32 = 0u;  // 0 average; 1, 2: Lp with p 1 or 2; 3: any p

// Drivers may give a log or power of NaN, 0 or infinity any value, and fold x != x away: test the bits.
fn power(v: f32, exponent: f32) -> f32 {
  let bits = bitcast<u32>(v);
  if (bits == 0u || bits >= 0x7f800000u) {
    return v;
  }
  return pow(v, exponent);
}

fn term(v: f32, p: f32) -> f32 {
  if (NORM == 0u) {
    return v;
  }
  if (NORM == 1u) {
    return abs(v);
  }
  if (NORM == 2u) {
    return v * v;
  }
  return power(abs(v), p);
}

fn finish(sum: f32, count: u32, p: f32) -> f32 {
  if (NORM == 0u) {
    var nan = 0x7fc00000u;
    return select(sum / f32(max(count, 1u)), bitcast<f32>(nan), count == 0u);
  }
  if (NORM == 1u) {
    return sum;
  }
  if (NORM == 2u) {
    return sqrt(sum);
  }
  return power(sum, 1.0 / p);
}
