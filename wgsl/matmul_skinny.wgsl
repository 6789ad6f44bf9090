// y = activation(alpha * (a @ b) + beta * bias) for a of a few rows; a workgroup makes COLUMNS columns.
//
// Layouts and params as in wgsl/matmul.wgsl; ROWS is m. A thread sums one column over the terms
// slice, slice + SLICES ... of k, all ROWS rows at once, in blocks of 32 terms; a fixed halving tree
// joins the slices. Threads lie along n where b's rows are contiguous (COLUMNS large), along k with
// TRANS_B (SLICES large). Workgroups count columns, then batches. Bindings: a, b, bias, y, params.
// Source: problems/matmul.py.

const TRANS_A: bool = false;
const TRANS_B: bool = false;
const HAS_BIAS: bool = false;
const ROWS: u32 = 1u;
const COLUMNS: u32 = 16u;
const SLICES: u32 = 16u;
const WORKGROUP: u32 = COLUMNS * SLICES;
const PARTS: u32 = ROWS * WORKGROUP;
alias T = f32;

struct Params {
  batch: array<vec4<u32>, 2>,
  a_strides: array<vec4<u32>, 2>,
  b_strides: array<vec4<u32>, 2>,
  bias_strides: array<vec4<u32>, 2>,
  m: u32,
  n: u32,
  k: u32,
  batches: u32,
  rank: u32,
  bias_row: u32,
  bias_column: u32,
  a_offset: u32,
  b_offset: u32,
  bias_offset: u32,
  y_offset: u32,
  alpha: f32,
  beta: f32,
}

@group(0) @binding(0) var<storage, read> a: array<T>;
@group(0) @binding(1) var<storage, read> b: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> params: Params;

var<workgroup> parts: array<f32, PARTS>;

//: region activation
fn activation(v: f32) -> f32 {
  return v;
}
//: end

// Where the matrices of one batch start in a, b and bias.
fn starts(batch: u32) -> vec3<u32> {
  var rest = batch;
  var first = vec3<u32>(params.a_offset, params.b_offset, params.bias_offset);
  for (var axis = params.rank; axis > 0u; axis--) {
    let part = (axis - 1u) / 4u;
    let slot = (axis - 1u) % 4u;
    let strides = vec3<u32>(params.a_strides[part][slot], params.b_strides[part][slot], params.bias_strides[part][slot]);
    first += rest % params.batch[part][slot] * strides;
    rest /= params.batch[part][slot];
  }
  return first;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let across = (params.n + COLUMNS - 1u) / COLUMNS;
  let tile = id.y * groups.x + id.x;
  let batch = tile / across;
  let first = starts(batch);
  let at_column = select(lane % COLUMNS, lane / SLICES, TRANS_B);
  let slice = select(lane / COLUMNS, lane % SLICES, TRANS_B);
  let column = tile % across * COLUMNS + at_column;
  let inside = batch < params.batches && column < params.n;
  let k = select(0u, params.k, inside);
  let a_row = select(params.k, 1u, TRANS_A);
  let a_step = select(1u, params.m, TRANS_A);
  let b_first = first.y + select(column, column * params.k, TRANS_B);
  let b_step = select(params.n, 1u, TRANS_B);
  var total: array<f32, ROWS>;
  for (var begin = slice; begin < k; begin += 32u * SLICES) {
    // Written out: naga (wgpu-native 29) does not zero a variable again that a loop declares without a value.
    var block = array<f32, ROWS>();
    for (var at = begin; at < min(begin + 32u * SLICES, k); at += SLICES) {
      let right = f32(b[b_first + at * b_step]);
      //: unroll
      for (var row = 0u; row < ROWS; row++) {
        block[row] += f32(a[first.x + row * a_row + at * a_step]) * right;
      }
    }
    //: unroll
    for (var row = 0u; row < ROWS; row++) {
      total[row] += block[row];
    }
  }
  //: unroll
  for (var row = 0u; row < ROWS; row++) {
    parts[(row * SLICES + slice) * COLUMNS + at_column] = total[row];
  }
  for (var half = SLICES / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (slice < half) {
      //: unroll
      for (var row = 0u; row < ROWS; row++) {
        let at = (row * SLICES + slice) * COLUMNS + at_column;
        parts[at] += parts[at + half * COLUMNS];
      }
    }
  }
  if (slice == 0u && inside) {
    for (var row = 0u; row < ROWS; row++) {
      var v = params.alpha * parts[row * SLICES * COLUMNS + at_column];
      if (HAS_BIAS) {
        v += params.beta * f32(bias[first.z + row * params.bias_row + column * params.bias_column]);
      }
      y[params.y_offset + (batch * params.m + row) * params.n + column] = T(activation(v));
    }
  }
}
