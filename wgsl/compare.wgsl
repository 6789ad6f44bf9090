// The comparisons, chosen at compile time by KIND: 1 where they hold, else 0. NaN compares as false.
//
// Not an entry point: shader.py puts this text in place of wgsl/binary.wgsl's region `function`.
// V is the operands' type there. The numbers are positions in problems/elementwise.py's COMPARISONS.
// Source: ONNX Equal-19, Less-13, Greater-13, LessOrEqual-16, GreaterOrEqual-16.

const KIND: u32 = 0u;
const FLOATS: bool = true;

// Compilers fold comparisons as if there were no NaN: test the bits.
fn is_unordered(v: V) -> bool {
  return FLOATS && (bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u;
}

fn binary(a: V, b: V) -> u32 {
  if (is_unordered(a) || is_unordered(b)) {
    return 0u;
  }
  switch KIND {
    case 0u: { return u32(a == b); }
    case 1u: { return u32(a < b); }
    case 2u: { return u32(a > b); }
    case 3u: { return u32(a <= b); }
    default: { return u32(a >= b); }
  }
}
