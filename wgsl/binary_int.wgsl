// The binary functions of integers, chosen at compile time by KIND.
//
// `binary(a, b)` gives the value. Not an entry point: shader.py puts this text in place of
// wgsl/binary.wgsl's region `function`. V is i32 or u32 there. The numbers are positions in
// problems/elementwise.py's BINARIES. Division goes towards 0; by 0 it gives the dividend.
// Source: ONNX Add-14, Sub-14, Mul-14, Div-14, Pow-15, Min-13, Max-13, Mod-13, And-7, Or-7, Xor-7.

const KIND: u32 = 0u;

// By squaring; a negative exponent gives 1 / a ** |b| towards 0.
fn power(a: V, b: V) -> V {
  if (b < V(0)) {
    let odd = (i32(b) & 1) == 1;
    return select(select(V(0), select(V(1), a, odd), a * a == V(1)), a, a == V(1));
  }
  var result = V(1);
  var base = a;
  var rest = u32(b);
  while (rest > 0u) {
    result = select(result, result * base, (rest & 1u) == 1u);
    base = base * base;
    rest = rest >> 1u;
  }
  return result;
}

// The rest of a division towards 0; 0 for b = 0. Vulkan leaves % of negative operands undefined, and an
// NVIDIA H200 gives other numbers there (driver 580, 2026-11-29).
fn remainder(a: V, b: V) -> V {
  return select(a - a / b * b, V(0), b == V(0));
}

fn binary(a: V, b: V) -> V {
  switch KIND {
    case 0u: { return a + b; }
    case 1u: { return a - b; }
    case 2u: { return a * b; }
    case 3u: { return a / b; }
    case 4u: { return power(a, b); }
    case 5u: { return min(a, b); }
    case 6u: { return max(a, b); }
    case 7u: {
      let rest = remainder(a, b);
      return select(rest, rest + b, rest != V(0) && (rest < V(0)) != (b < V(0)));
    }
    case 8u: { return remainder(a, b); }
    case 10u: { return a & b; }
    case 11u: { return a | b; }
    default: { return a ^ b; }
  }
}
