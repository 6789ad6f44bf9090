// y = softmax or log softmax of x's rows; a workgroup makes one row.
//
// x, y: (rows, size). A row's elements are dealt to the threads in turn; maximum and sum go through
// a fixed halving tree. Bindings: x, y, params.
// Source: problems/reduce.py, SoftmaxProblem; ONNX Softmax-13, LogSoftmax-13.

const LOG: bool = false;
const WORKGROUP: u32 = 256u;
alias T = f32;

struct Params {
  rows: u32,
  size: u32,
  x_offset: u32,
  y_offset: u32,
}

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> parts: array<f32, WORKGROUP>;

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
  let row = id.y * groups.x + id.x;
  let size = select(0u, params.size, row < params.rows);
  let first = row * params.size;
  // NaN may be lost here: it comes back with the sum.
  var most = f32(x[params.x_offset + min(row, params.rows - 1u) * params.size]);
  for (var at = lane; at < size; at += WORKGROUP) {
    most = max(most, f32(x[params.x_offset + first + at]));
  }
  parts[lane] = most;
  for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      parts[lane] = max(parts[lane], parts[lane + half]);
    }
  }
  workgroupBarrier();
  most = parts[0];
  workgroupBarrier();
  var total = 0.0;
  for (var at = lane; at < size; at += WORKGROUP) {
    total += power(f32(x[params.x_offset + first + at]) - most);
  }
  parts[lane] = total;
  for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      parts[lane] += parts[lane + half];
    }
  }
  workgroupBarrier();
  total = parts[0];
  for (var at = lane; at < size; at += WORKGROUP) {
    let v = f32(x[params.x_offset + first + at]) - most;
    if (LOG) {
      y[params.y_offset + first + at] = T(v - logarithm(total));
    } else {
      y[params.y_offset + first + at] = T(power(v) / total);
    }
  }
}
