// y = (x - mean) / sqrt(variance + epsilon) * scale + bias over rows of x; a workgroup makes one row.
//
// x, y: (rows, size); element i takes scale[i / span % channels] and bias likewise. A row's elements
// are dealt to the threads in turn, sums go through a fixed halving tree. Two passes over the row:
// the mean, then the mean square around it. Bindings: x, scale, bias, y, params.
// Source: problems/normalization.py, NormalizationProblem.

const HAS_BIAS: bool = true;
const WORKGROUP: u32 = 256u;
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

var<workgroup> parts: array<f32, WORKGROUP>;

// The sum of all threads' parts, to each of them.
fn sum_of_all(part: f32, lane: u32) -> f32 {
  parts[lane] = part;
  for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      parts[lane] += parts[lane + half];
    }
  }
  workgroupBarrier();
  let total = parts[0];
  workgroupBarrier();
  return total;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = id.y * groups.x + id.x;
  let first = row * params.size;
  let end = select(first, first + params.size, row < params.rows);
  let count = f32(params.size);
  var part = 0.0;
  for (var at = first + lane; at < end; at += WORKGROUP) {
    part += f32(x[params.x_offset + at]);
  }
  let mean = sum_of_all(part, lane) / count;
  part = 0.0;
  for (var at = first + lane; at < end; at += WORKGROUP) {
    let away = f32(x[params.x_offset + at]) - mean;
    part += away * away;
  }
  let deviation = sqrt(sum_of_all(part, lane) / count + params.epsilon);
  for (var at = first + lane; at < end; at += WORKGROUP) {
    let channel = at / params.span % params.channels;
    var v = (f32(x[params.x_offset + at]) - mean) / deviation * f32(scale[params.scale_offset + channel]);
    if (HAS_BIAS) {
      v += f32(bias[params.bias_offset + channel]);
    }
    y[params.y_offset + at] = T(v);
  }
}
