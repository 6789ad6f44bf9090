// y[o, i, j] = x[o, indices[i], j]: slices of x along one axis, bit for bit.
//
// x: (before, size, behind), indices: (count) int32, y: (before, count, behind). Negative indices
// count from the end; what is out of range is held to the ends. A thread moves one element.
// Bindings: x, indices, y, params. Source: problems/movement.py, GatherProblem; ONNX Gather-13.

const WORKGROUP: u32 = 256u;
alias E = u32;  // what moves: a u32 for any 32-bit type, or an f16

struct Params {
  elements: u32,
  size: u32,
  count: u32,
  behind: u32,
  x_offset: u32,
  indices_offset: u32,
  y_offset: u32,
}

@group(0) @binding(0) var<storage, read> x: array<E>;
@group(0) @binding(1) var<storage, read> indices: array<i32>;
@group(0) @binding(2) var<storage, read_write> y: array<E>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = (id.y * groups.x + id.x) * WORKGROUP + lane;
  if (i >= params.elements) {
    return;
  }
  let outer = i / params.behind / params.count;
  let named = indices[params.indices_offset + i / params.behind % params.count];
  let size = i32(params.size);
  let at = u32(clamp(select(named, named + size, named < 0), 0, size - 1));
  y[params.y_offset + i] = x[params.x_offset + (outer * params.size + at) * params.behind + i % params.behind];
}
