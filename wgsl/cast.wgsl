// y = x in another element type; floats to integers go towards 0.
//
// BOOLEAN: y is 1 where x is not 0, else 0. A thread makes one element. Bindings: x, y, params.
// Source: problems/movement.py, CastProblem; ONNX Cast-25.

const BOOLEAN: bool = false;
const WORKGROUP: u32 = 256u;
alias X = f32;  // an element of x as it lies there
alias V = f32;  // its value
alias Y = i32;

struct Params {
  elements: u32,
  x_offset: u32,
  y_offset: u32,
}

@group(0) @binding(0) var<storage, read> x: array<X>;
@group(0) @binding(1) var<storage, read_write> y: array<Y>;
@group(0) @binding(2) var<uniform> params: Params;

//: region load
fn load(i: u32) -> V {
  return x[i];
}
//: end

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = (id.y * groups.x + id.x) * WORKGROUP + lane;
  if (i >= params.elements) {
    return;
  }
  let v = load(params.x_offset + i);
  if (BOOLEAN) {
    y[params.y_offset + i] = select(Y(1), Y(0), v == V(0));
  } else {
    y[params.y_offset + i] = Y(v);
  }
}
