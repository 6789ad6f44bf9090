// y = function(x), element by element.
//
// x, y: `elements` elements. A thread makes LANES neighbours: X is a scalar type with LANES 1, or
// a vec4 with LANES 4, where offsets and elements are multiples of 4.
// Bindings: x, y, params. Source: problems/elementwise.py, UnaryProblem.

const LANES: u32 = 1u;
const WORKGROUP: u32 = 256u;
alias V = f32;
alias X = f32;

struct Params {
  elements: u32,
  x_offset: u32,
  y_offset: u32,
}

@group(0) @binding(0) var<storage, read> x: array<X>;
@group(0) @binding(1) var<storage, read_write> y: array<X>;
@group(0) @binding(2) var<uniform> params: Params;

//: region function
fn unary(v: V) -> V {
  return v;
}
//: end

//: region lanes
fn each(v: X) -> X {
  return X(unary(V(v)));
}
//: end

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = (id.y * groups.x + id.x) * WORKGROUP + lane;
  if (i < params.elements / LANES) {
    y[params.y_offset / LANES + i] = each(x[params.x_offset / LANES + i]);
  }
}
