// y = softmax or log softmax of x along one axis; a thread makes one row.
//
// x, y: (before, size, behind), a row is what lies along size. Bindings: x, y, params.
// Source: problems/reduce.py, SoftmaxProblem; ONNX Softmax-13, LogSoftmax-13.

const LOG: bool = false;
const WORKGROUP: u32 = 64u;
alias T = f32;

struct Params {
  rows: u32,
  size: u32,
  behind: u32,
  x_offset: u32,
  y_offset: u32,
}

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> params: Params;

fn is_nan_bits(v: f32) -> bool {
  return (bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u;
}

// exp and log that keep NaN: SwiftShader's give numbers.
fn power(v: f32) -> f32 {
  return select(exp(v), v, is_nan_bits(v));
}

fn logarithm(v: f32) -> f32 {
  return select(log(v), v, is_nan_bits(v));
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = (id.y * groups.x + id.x) * WORKGROUP + lane;
  if (row >= params.rows) {
    return;
  }
  let first = row / params.behind * params.size * params.behind + row % params.behind;
  let end = params.size * params.behind;
  var most = f32(x[params.x_offset + first]);
  for (var at = 0u; at < end; at += params.behind) {
    most = max(most, f32(x[params.x_offset + first + at]));
  }
  var total = 0.0;
  for (var at = 0u; at < end; at += params.behind) {
    total += power(f32(x[params.x_offset + first + at]) - most);
  }
  for (var at = 0u; at < end; at += params.behind) {
    let v = f32(x[params.x_offset + first + at]) - most;
    if (LOG) {
      y[params.y_offset + first + at] = T(v - logarithm(total));
    } else {
      y[params.y_offset + first + at] = T(power(v) / total);
    }
  }
}
