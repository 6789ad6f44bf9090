// The binary functions of floats, chosen at compile time by KIND; all compute in float32.
//
// `binary(a, b)` gives the value. Not an entry point: shader.py puts this text in place of
// wgsl/binary.wgsl's region `function`. The numbers are positions in problems/elementwise.py's
// BINARIES.
// Source: ONNX Add-14, Sub-14, Mul-14, Div-14, Pow-15, Min-13, Max-13, Mod-13, PRelu-16.

const KIND: u32 = 0u;
const INFINITE: u32 = 0x7f800000u;

// min and max drop NaN on naga and Tint alike, and x != x is folded away: test the bits.
fn is_nan_bits(v: f32) -> bool {
  return (bitcast<u32>(v) & 0x7fffffffu) > INFINITE;
}

// Constant expressions may not be infinite: the bits go through a variable.
fn from_bits(bits: u32) -> f32 {
  var stored = bits;
  return bitcast<f32>(stored);
}

fn is_infinite(v: f32) -> bool {
  return (bitcast<u32>(v) & 0x7fffffffu) == INFINITE;
}

// |a| ** b for a > 0 or infinite, b neither NaN nor 0.
fn power_of_magnitude(a: f32, b: f32) -> f32 {
  if (a == 0.0 || is_infinite(a) || is_infinite(b)) {
    let large = select(a > 1.0, a < 1.0, b < 0.0);
    return select(select(0.0, from_bits(INFINITE), large), 1.0, a == 1.0);
  }
  if (b == 0.5) {
    return sqrt(a);
  }
  return pow(a, b);
}

// C's pow: WGSL's knows no negative base, and drivers differ on NaN and infinity.
fn power(a: f32, b: f32) -> f32 {
  if (b == 0.0 || a == 1.0) {
    return 1.0;
  }
  if (is_nan_bits(a) || is_nan_bits(b)) {
    return from_bits(0x7fc00000u);
  }
  if (b == 1.0) {
    return a;
  }
  if (b == 2.0) {
    return a * a;
  }
  if (b == 3.0) {
    return a * a * a;
  }
  if (b == -1.0) {
    return 1.0 / a;
  }
  let magnitude = power_of_magnitude(abs(a), b);
  if (bitcast<u32>(a) < 0x80000000u) {
    return magnitude;
  }
  if (floor(b) != b) {  // a negative base with a fraction: NaN, but for the two ends of the line
    return select(from_bits(0x7fc00000u), magnitude, a == 0.0 || is_infinite(a));
  }
  // Even or odd: beyond 2 ** 24 every float is even.
  let odd = abs(b) < 16777216.0 && (i32(clamp(b, -16777216.0, 16777216.0)) & 1) == 1;
  return select(magnitude, -magnitude, odd);
}

// C's fmod: a % b of the hardware is NaN for an infinite b.
fn remainder(a: f32, b: f32) -> f32 {
  return select(a % b, a, is_infinite(b) && !is_infinite(a) && !is_nan_bits(a));
}

fn extreme(a: f32, b: f32) -> f32 {
  if (is_nan_bits(a)) {
    return a;
  }
  if (is_nan_bits(b)) {
    return b;
  }
  return select(max(a, b), min(a, b), KIND == 5u);
}

fn binary(a: f32, b: f32) -> f32 {
  switch KIND {
    case 0u: { return a + b; }
    case 1u: { return a - b; }
    case 2u: { return a * b; }
    case 3u: { return a / b; }
    case 4u: { return power(a, b); }
    case 5u, 6u: { return extreme(a, b); }
    case 7u: {
      let rest = remainder(a, b);
      return select(rest, rest + b, rest != 0.0 && (rest < 0.0) != (b < 0.0));
    }
    case 8u: { return remainder(a, b); }
    default: { return select(a, a * b, a < 0.0); }  // 9: prelu
  }
}
