// y[i . y_strides] = x[i . x_strides] for every index i of a shape, bit for bit.
//
// The walk has `rank` axes of `shape` (at most 8, the last one fastest). E is what moves: a u32 for
// any 32-bit type (NaN payloads survive), an f16, or a vec4 of them, which strides and offsets then
// count; single bytes take wgsl/moved_bytes.wgsl. x's strides may be negative: 32-bit wrap-around adds them. A thread moves one E.
// Bindings: x, y, params. Source: problems/movement.py, CopyProblem.

const WORKGROUP: u32 = 256u;
alias E = u32;

struct Params {
  shape: array<vec4<u32>, 2>,
  x_strides: array<vec4<u32>, 2>,
  y_strides: array<vec4<u32>, 2>,
  elements: u32,
  rank: u32,
  x_offset: u32,
  y_offset: u32,
}

//: region elements
@group(0) @binding(0) var<storage, read> x: array<E>;
@group(0) @binding(1) var<storage, read_write> y: array<E>;
fn element_at(i: u32) -> E { return x[i]; }
fn put_element(i: u32, element: E) { y[i] = element; }
//: end

@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = (id.y * groups.x + id.x) * WORKGROUP + lane;
  if (i >= params.elements) {
    return;
  }
  var rest = i;
  var x_index = params.x_offset;
  var y_index = params.y_offset;
  for (var axis = params.rank; axis > 0u; axis--) {
    let part = (axis - 1u) / 4u;
    let slot = (axis - 1u) % 4u;
    let size = params.shape[part][slot];
    let at = rest % size;
    rest /= size;
    x_index += at * params.x_strides[part][slot];
    y_index += at * params.y_strides[part][slot];
  }
  put_element(y_index, element_at(x_index));
}
