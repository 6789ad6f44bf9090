// y = activation(function(a, b)) with broadcasting, element by element.
//
// The walk over y has `rank` axes of `shape` (at most 8, the last one fastest); a and b have a stride
// for each, 0 where they are repeated. A thread makes one element. Bindings: a, b, y, params.
// Source: problems/elementwise.py, BinaryProblem; ONNX Broadcasting.md.

const WORKGROUP: u32 = 256u;
alias V = f32;  // computed in
alias R = f32;  // the function's result
alias T = f32;  // a's and b's elements
alias Y = f32;  // y's elements

struct Params {
  shape: array<vec4<u32>, 2>,
  a_strides: array<vec4<u32>, 2>,
  b_strides: array<vec4<u32>, 2>,
  elements: u32,
  rank: u32,
  a_offset: u32,
  b_offset: u32,
  y_offset: u32,
}

@group(0) @binding(0) var<storage, read> a: array<T>;
@group(0) @binding(1) var<storage, read> b: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<Y>;
@group(0) @binding(3) var<uniform> params: Params;

//: region function
fn binary(left: V, right: V) -> R {
  return left + right;
}
//: end

//: region activation
fn activation(v: R) -> R {
  return v;
}
//: end

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = (id.y * groups.x + id.x) * WORKGROUP + lane;
  if (i >= params.elements) {
    return;
  }
  var rest = i;
  var a_index = params.a_offset;
  var b_index = params.b_offset;
  for (var axis = params.rank; axis > 0u; axis--) {
    let part = (axis - 1u) / 4u;
    let slot = (axis - 1u) % 4u;
    let size = params.shape[part][slot];
    let at = rest % size;
    rest /= size;
    a_index += at * params.a_strides[part][slot];
    b_index += at * params.b_strides[part][slot];
  }
  y[params.y_offset + i] = Y(activation(binary(V(a[a_index]), V(b[b_index]))));
}
