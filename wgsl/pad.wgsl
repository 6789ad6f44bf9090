// y = x with a border: a value, or x's own elements repeated (edge, reflect, wrap), bit for bit.
//
// y has `rank` axes of `shape` (at most 8, the last one fastest); `begins` elements of border lie
// before x's `sizes`, which `x_strides` walk. Cropping is in the sizes and x_offset already.
// A thread makes one element. Bindings: x, y, params.
// Source: problems/movement.py, PadProblem; ONNX Pad-24.

const MODE: u32 = 0u;  // position in problems/movement.py's PAD_MODES
const WORKGROUP: u32 = 256u;
alias E = u32;  // what moves: a u32 for any 32-bit type, a byte in one (wgsl/moved_bytes.wgsl), or an f16

struct Params {
  shape: array<vec4<u32>, 2>,
  begins: array<vec4<u32>, 2>,
  sizes: array<vec4<u32>, 2>,
  x_strides: array<vec4<u32>, 2>,
  elements: u32,
  rank: u32,
  x_offset: u32,
  y_offset: u32,
  value_bits: u32,
}

//: region elements
@group(0) @binding(0) var<storage, read> x: array<E>;
@group(0) @binding(1) var<storage, read_write> y: array<E>;
fn element_at(i: u32) -> E { return x[i]; }
fn put_element(i: u32, element: E) { y[i] = element; }
//: end

@group(0) @binding(2) var<uniform> params: Params;

//: region value
fn border() -> E {
  return params.value_bits;
}
//: end

// The remainder of a floor division, b > 0. Vulkan leaves % of negative operands undefined, and an NVIDIA
// H200 gives other numbers there (driver 580, 2026-11-29).
fn modulo(a: i32, b: i32) -> i32 {
  let rest = a - a / b * b;
  return select(rest, rest + b, rest < 0);
}

// Where along an axis of `size` elements the element at `at`, from x's first, comes from.
fn source(at: i32, size: i32) -> i32 {
  switch MODE {
    case 1u: { return clamp(at, 0, size - 1); }
    case 2u: {
      let period = max(2 * size - 2, 1);
      let folded = modulo(at, period);
      return min(folded, period - folded) * i32(size > 1);
    }
    case 3u: { return modulo(at, size); }
    default: { return at; }
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = (id.y * groups.x + id.x) * WORKGROUP + lane;
  if (i >= params.elements) {
    return;
  }
  var rest = i;
  var index = params.x_offset;
  var inside = true;
  for (var axis = params.rank; axis > 0u; axis--) {
    let part = (axis - 1u) / 4u;
    let slot = (axis - 1u) % 4u;
    let size = params.shape[part][slot];
    let from_x = i32(rest % size) - i32(params.begins[part][slot]);
    rest /= size;
    let at = source(from_x, i32(params.sizes[part][slot]));
    inside = inside && at >= 0 && at < i32(params.sizes[part][slot]);
    index += u32(at) * params.x_strides[part][slot];
  }
  if (inside) {
    put_element(params.y_offset + i, element_at(index));
  } else {
    put_element(params.y_offset + i, border());
  }
}
