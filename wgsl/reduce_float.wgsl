// What a reduction of floats does with its elements, chosen at compile time by KIND; in float32.
//
// Not an entry point: shader.py puts this text in place of the region `function` of wgsl/reduce.wgsl
// and wgsl/reduce_tree.wgsl. The numbers are positions in problems/reduce.py's REDUCTIONS.
// Source: ONNX ReduceSum-13, ReduceMean-18, ReduceMax-20, ReduceMin-20, ReduceProd-18, ReduceL1-18,
// ReduceSumSquare-18, ReduceL2-18, ReduceLogSum-18.

const KIND: u32 = 0u;

// Constant expressions may not be infinite: the bits go through a variable.
fn from_bits(bits: u32) -> f32 {
  var stored = bits;
  return bitcast<f32>(stored);
}

fn is_nan_bits(v: f32) -> bool {
  return (bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u;
}

// The result over no element.
fn initial() -> f32 {
  switch KIND {
    case 2u: { return from_bits(0xff800000u); }
    case 3u: { return from_bits(0x7f800000u); }
    case 4u: { return 1.0; }
    default: { return 0.0; }
  }
}

// What an element counts for.
fn take(v: f32) -> f32 {
  switch KIND {
    case 5u: { return abs(v); }
    case 6u, 7u: { return v * v; }
    default: { return v; }
  }
}

// Two parts as one; max and min of the hardware drop NaN, ONNX's do not.
fn join(a: f32, b: f32) -> f32 {
  if (KIND == 2u || KIND == 3u) {
    if (is_nan_bits(a) || is_nan_bits(b)) {
      return select(b, a, is_nan_bits(a));
    }
    return select(min(a, b), max(a, b), KIND == 2u);
  }
  return select(a + b, a * b, KIND == 4u);
}

// The value of all `count` elements' parts.
fn finish(total: f32, count: u32) -> f32 {
  switch KIND {
    case 1u: { return total / f32(count); }
    case 7u: { return sqrt(total); }
    case 8u: {
      if (is_nan_bits(total) || total < 0.0) {
        return from_bits(0x7fc00000u);
      }
      return select(log(total), from_bits(0xff800000u), total == 0.0);
    }
    default: { return total; }
  }
}
