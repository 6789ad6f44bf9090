// y = activation(alpha * (a @ b) + beta * bias); a thread makes one element.
//
// a: batches of (m, k), or (k, m) with TRANS_A; b: batches of (k, n), or (n, k) with TRANS_B; y:
// batches of (m, n). The batches have `rank` axes of `batch` (at most 8), a, b and bias a stride for
// each, 0 where they are repeated; bias_row and bias_column walk bias within a matrix.
// Sums: blocks of 32 terms, gathered in groups of 128. Bindings: a, b, bias, y, params.
// Source: problems/matmul.py.

const TRANS_A: bool = false;
const TRANS_B: bool = false;
const HAS_BIAS: bool = false;
const WORKGROUP: u32 = 64u;
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
  let i = (id.y * groups.x + id.x) * WORKGROUP + lane;
  if (i >= params.batches * params.m * params.n) {
    return;
  }
  let row = i / params.n % params.m;
  let column = i % params.n;
  let first = starts(i / params.n / params.m);
  let a_first = first.x + select(row * params.k, row, TRANS_A);
  let b_first = first.y + select(column, column * params.k, TRANS_B);
  let a_step = select(1u, params.m, TRANS_A);
  let b_step = select(params.n, 1u, TRANS_B);
  var total = 0.0;
  for (var group = 0u; group < params.k; group += 128u) {
    var group_sum = 0.0;
    for (var block = group; block < min(group + 128u, params.k); block += 32u) {
      var block_sum = 0.0;
      for (var at = block; at < min(block + 32u, params.k); at++) {
        block_sum += f32(a[a_first + at * a_step]) * f32(b[b_first + at * b_step]);
      }
      group_sum += block_sum;
    }
    total += group_sum;
  }
  var v = params.alpha * total;
  if (HAS_BIAS) {
    v += params.beta * f32(bias[first.z + row * params.bias_row + column * params.bias_column]);
  }
  y[params.y_offset + i] = T(activation(v));
}
