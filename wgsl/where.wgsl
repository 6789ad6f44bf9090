// y = condition ? a : b with broadcasting, element by element and bit for bit.
//
// The walk over y has `rank` axes of `shape` (at most 8, the last one fastest); the operands have a
// stride for each, 0 where they are repeated. A thread makes one element.
// Bindings: condition, a, b, y, params. Source: problems/elementwise.py, WhereProblem; ONNX Where-16.

const WORKGROUP: u32 = 256u;
alias E = u32;  // an element of a, b and y, moved as it is

struct Params {
  shape: array<vec4<u32>, 2>,
  condition_strides: array<vec4<u32>, 2>,
  a_strides: array<vec4<u32>, 2>,
  b_strides: array<vec4<u32>, 2>,
  elements: u32,
  rank: u32,
  condition_offset: u32,
  a_offset: u32,
  b_offset: u32,
  y_offset: u32,
}

@group(0) @binding(0) var<storage, read> condition: array<u32>;
@group(0) @binding(1) var<storage, read> a: array<E>;
@group(0) @binding(2) var<storage, read> b: array<E>;
@group(0) @binding(3) var<storage, read_write> y: array<E>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = (id.y * groups.x + id.x) * WORKGROUP + lane;
  if (i >= params.elements) {
    return;
  }
  var rest = i;
  var condition_index = params.condition_offset;
  var a_index = params.a_offset;
  var b_index = params.b_offset;
  for (var axis = params.rank; axis > 0u; axis--) {
    let part = (axis - 1u) / 4u;
    let slot = (axis - 1u) % 4u;
    let size = params.shape[part][slot];
    let at = rest % size;
    rest /= size;
    condition_index += at * params.condition_strides[part][slot];
    a_index += at * params.a_strides[part][slot];
    b_index += at * params.b_strides[part][slot];
  }
  if (condition[condition_index] != 0u) {
    y[params.y_offset + i] = a[a_index];
  } else {
    y[params.y_offset + i] = b[b_index];
  }
}
