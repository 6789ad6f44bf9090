// y = activation(function(a, b)) with broadcasting, four elements of the last axis to a thread.
//
// As wgsl/binary.wgsl, but the last axis is counted in quads: y's elements there are a multiple of 4,
// and a and b either lie contiguous along it (A, B a vec4: strides and offsets count vec4s) or are
// repeated (A, B a scalar, stride 0). Bindings: a, b, y, params.

const WORKGROUP: u32 = 256u;
alias V = f32;
alias R = f32;
alias T = f32;  // a's and b's elements
alias A = vec4<f32>;
alias B = vec4<f32>;
alias Y = vec4<f32>;

struct Params {
  shape: array<vec4<u32>, 2>,
  a_strides: array<vec4<u32>, 2>,
  b_strides: array<vec4<u32>, 2>,
  quads: u32,
  rank: u32,
  a_offset: u32,
  b_offset: u32,
  y_offset: u32,
}

@group(0) @binding(0) var<storage, read> a: array<A>;
@group(0) @binding(1) var<storage, read> b: array<B>;
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
  if (i >= params.quads) {
    return;
  }
  var rest = i;
  var a_index = params.a_offset;
  var b_index = params.b_offset;
  for (var axis = params.rank; axis > 1u; axis--) {
    let part = (axis - 1u) / 4u;
    let slot = (axis - 1u) % 4u;
    let size = params.shape[part][slot];
    let at = rest % size;
    rest /= size;
    a_index += at * params.a_strides[part][slot];
    b_index += at * params.b_strides[part][slot];
  }
  a_index += rest * params.a_strides[0][0];
  b_index += rest * params.b_strides[0][0];
  let left = vec4<V>(vec4<T>(a[a_index]));
  let right = vec4<V>(vec4<T>(b[b_index]));
  y[params.y_offset + i] = Y(vec4<R>(
    activation(binary(left.x, right.x)),
    activation(binary(left.y, right.y)),
    activation(binary(left.z, right.z)),
    activation(binary(left.w, right.w)),
  ));
}
