// y = (x - mean) / sqrt(variance + epsilon) * scale + bias with given statistics of each channel.
//
// x, y: (N, C, plane). A thread makes LANES neighbours of one plane: X is a scalar type with LANES 1,
// or a vec4 with LANES 4, where planes and offsets are multiples of 4 (`plane` and `elements` are
// then counted in vec4s). Bindings: x, scale, bias, mean, variance, y, params.
// Source: problems/normalization.py, BatchNormalizationProblem; ONNX BatchNormalization-15.

const LANES: u32 = 1u;
const WORKGROUP: u32 = 256u;
alias T = f32;
alias X = f32;
alias V = f32;

struct Params {
  elements: u32,
  plane: u32,
  channels: u32,
  x_offset: u32,
  scale_offset: u32,
  bias_offset: u32,
  mean_offset: u32,
  variance_offset: u32,
  y_offset: u32,
  epsilon: f32,
}

@group(0) @binding(0) var<storage, read> x: array<X>;
@group(0) @binding(1) var<storage, read> scale: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read> mean: array<T>;
@group(0) @binding(4) var<storage, read> variance: array<T>;
@group(0) @binding(5) var<storage, read_write> y: array<X>;
@group(0) @binding(6) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = (id.y * groups.x + id.x) * WORKGROUP + lane;
  if (i >= params.elements) {
    return;
  }
  let channel = i / params.plane % params.channels;
  let deviation = sqrt(f32(variance[params.variance_offset + channel]) + params.epsilon);
  let away = V(x[params.x_offset / LANES + i]) - f32(mean[params.mean_offset + channel]);
  let v = away / deviation * f32(scale[params.scale_offset + channel]) + f32(bias[params.bias_offset + channel]);
  y[params.y_offset / LANES + i] = X(v);
}
