// y = (x - mean) / sqrt(variance + epsilon) * scale + bias over rows of x; a thread makes one row.
//
// x, y: (rows, size); element i takes scale[i / span % channels] and bias likewise. Two passes over
// the row: the mean, then the mean square around it; sums in parts of BLOCK.
// Bindings: x, scale, bias, y, params. Source: problems/normalization.py, NormalizationProblem.

const HAS_BIAS: bool = true;
const BLOCK: u32 = 64u;
const WORKGROUP: u32 = 64u;
alias T = f32;

struct Params {
  rows: u32,
  size: u32,
  span: u32,
  channels: u32,
  x_offset: u32,
  scale_offset: u32,
  bias_offset: u32,
  y_offset: u32,
  epsilon: f32,
}

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> scale: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = (id.y * groups.x + id.x) * WORKGROUP + lane;
  if (row >= params.rows) {
    return;
  }
  let first = row * params.size;
  let count = f32(params.size);
  var mean = 0.0;
  for (var block = 0u; block < params.size; block += BLOCK) {
    var part = 0.0;
    for (var at = block; at < min(block + BLOCK, params.size); at++) {
      part += f32(x[params.x_offset + first + at]);
    }
    mean += part;
  }
  mean /= count;
  var variance = 0.0;
  for (var block = 0u; block < params.size; block += BLOCK) {
    var part = 0.0;
    for (var at = block; at < min(block + BLOCK, params.size); at++) {
      let away = f32(x[params.x_offset + first + at]) - mean;
      part += away * away;
    }
    variance += part;
  }
  let deviation = sqrt(variance / count + params.epsilon);
  for (var at = first; at < first + params.size; at++) {
    let channel = at / params.span % params.channels;
    var v = (f32(x[params.x_offset + at]) - mean) / deviation * f32(scale[params.scale_offset + channel]);
    if (HAS_BIAS) {
      v += f32(bias[params.bias_offset + channel]);
    }
    y[params.y_offset + at] = T(v);
  }
}
