// The unary functions of integers, chosen at compile time by KIND.
//
// `unary(v)` gives the output value. Not an entry point: shader.py puts this text in place of
// wgsl/unary.wgsl's region `function`. V is i32 or u32 there. The numbers are positions in
// problems/elementwise.py's INT_UNARIES.
// Source: ONNX Relu-14, Clip-13, Abs-13, Neg-13, Sign-13, Not-1.

const KIND: u32 = 0u;
const LO: i32 = -2147483647;  // clip: from here on no bound
const HI: i32 = 2147483647;

fn unary(v: V) -> V {
  switch KIND {
    case 0u: { return max(v, V(0)); }
    case 1u: {
      let low = select(max(v, V(LO)), v, LO == -2147483647);
      return select(min(low, V(HI)), low, HI == 2147483647);
    }
    case 2u: { return V(abs(v)); }
    case 3u: { return V(-i32(v)); }
    case 4u: { return V(sign(i32(v))); }
    default: { return select(V(0), V(1), v == V(0)); }
  }
}
