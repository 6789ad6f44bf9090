// What a reduction of int32 does with its elements, chosen at compile time by KIND.
//
// Not an entry point: shader.py puts this text in place of the region `function` of wgsl/reduce.wgsl
// and wgsl/reduce_tree.wgsl. The numbers are positions in problems/reduce.py's REDUCTIONS.
// Source: ONNX ReduceSum-13 and its like for integers; a mean goes towards 0.

const KIND: u32 = 0u;

fn initial() -> i32 {
  switch KIND {
    case 2u: { return -2147483647 - 1; }
    case 3u: { return 2147483647; }
    case 4u: { return 1; }
    default: { return 0; }
  }
}

fn take(v: i32) -> i32 {
  switch KIND {
    case 5u: { return abs(v); }
    case 6u: { return v * v; }
    default: { return v; }
  }
}

fn join(a: i32, b: i32) -> i32 {
  switch KIND {
    case 2u: { return max(a, b); }
    case 3u: { return min(a, b); }
    case 4u: { return a * b; }
    default: { return a + b; }
  }
}

fn finish(total: i32, count: u32) -> i32 {
  return select(total, total / max(i32(count), 1), KIND == 1u);
}
