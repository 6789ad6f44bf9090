// y = activation(alpha * (a @ b) + beta * bias); a workgroup makes a 64 x 64 tile of one matrix.
//
// Layouts and params as in wgsl/matmul.wgsl. 16 x 16 threads, each with 4 x 4 sums in four vec4.
// Steps of 16 along k: both operands' panels go to workgroup memory with k as the slow axis, a quad
// of neighbours along m or n to a vec4, so that every step of the product reads two vec4. PITCH
// spreads a panel's columns over the banks. Sums: blocks of 32 terms (two steps), gathered in groups
// of 128. Ragged edges load zeros and are not stored.
// Workgroups count tiles along n, then along m, then batches. Bindings: a, b, bias, y, params.
// Source: problems/matmul.py.

const TRANS_A: bool = false;
const TRANS_B: bool = false;
const HAS_BIAS: bool = false;
const STEP: u32 = 16u;
const QUADS: u32 = 16u;  // of a tile's 64 rows or columns
const PITCH: u32 = 17u;
const PANEL: u32 = STEP * PITCH;
const WORKGROUP: u32 = 256u;
alias T = f32;

const_assert WORKGROUP == QUADS * QUADS && WORKGROUP == STEP * QUADS;

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

var<workgroup> a_panel: array<vec4<f32>, PANEL>;
var<workgroup> b_panel: array<vec4<f32>, PANEL>;

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

fn load_a(first: u32, row: u32, at: u32) -> f32 {
  if (row >= params.m || at >= params.k) {
    return 0.0;
  }
  return f32(a[first + select(row * params.k + at, at * params.m + row, TRANS_A)]);
}

fn load_b(first: u32, at: u32, column: u32) -> f32 {
  if (column >= params.n || at >= params.k) {
    return 0.0;
  }
  return f32(b[first + select(at * params.n + column, column * params.k + at, TRANS_B)]);
}

// The panels of one step; neighbouring threads read neighbouring memory, whichever way it lies.
fn fill_panels(first: vec3<u32>, row: u32, column: u32, step: u32, lane: u32) {
  let slow = lane / 16u;
  let fast = lane % 16u;
  let a_quad = select(slow, fast, TRANS_A);
  let a_at = select(fast, slow, TRANS_A);
  let a_row = row + 4u * a_quad;
  a_panel[a_at * PITCH + a_quad] = vec4<f32>(
    load_a(first.x, a_row, step + a_at),
    load_a(first.x, a_row + 1u, step + a_at),
    load_a(first.x, a_row + 2u, step + a_at),
    load_a(first.x, a_row + 3u, step + a_at),
  );
  let b_quad = select(fast, slow, TRANS_B);
  let b_at = select(slow, fast, TRANS_B);
  let b_column = column + 4u * b_quad;
  b_panel[b_at * PITCH + b_quad] = vec4<f32>(
    load_b(first.y, step + b_at, b_column),
    load_b(first.y, step + b_at, b_column + 1u),
    load_b(first.y, step + b_at, b_column + 2u),
    load_b(first.y, step + b_at, b_column + 3u),
  );
}

fn store(first: vec3<u32>, batch: u32, row: u32, column: u32, sums: vec4<f32>) {
  for (var slot = 0u; slot < 4u; slot++) {
    if (row < params.m && column + slot < params.n) {
      var v = params.alpha * sums[slot];
      if (HAS_BIAS) {
        v += params.beta * f32(bias[first.z + row * params.bias_row + (column + slot) * params.bias_column]);
      }
      y[params.y_offset + (batch * params.m + row) * params.n + column + slot] = T(activation(v));
    }
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let across = (params.n + 63u) / 64u;
  let down = (params.m + 63u) / 64u;
  let tile = id.y * groups.x + id.x;
  let batch = tile / (across * down);
  let row = tile / across % down * 64u;
  let column = tile % across * 64u;
  let k = select(0u, params.k, batch < params.batches);
  let first = starts(batch);
  let a_quad = lane / QUADS;
  let b_quad = lane % QUADS;
  var block: array<vec4<f32>, 4>;
  var group: array<vec4<f32>, 4>;
  var total: array<vec4<f32>, 4>;
  for (var step = 0u; step < k; step += STEP) {
    fill_panels(first, row, column, step, lane);
    workgroupBarrier();
    //: unroll
    for (var at = 0u; at < STEP; at++) {
      let left = a_panel[at * PITCH + a_quad];
      let right = b_panel[at * PITCH + b_quad];
      block[0] += left.x * right;
      block[1] += left.y * right;
      block[2] += left.z * right;
      block[3] += left.w * right;
    }
    workgroupBarrier();
    let gather = step % 32u == 16u || step + STEP >= k;
    let flush = step % 128u == 112u || step + STEP >= k;
    //: unroll
    for (var slot = 0u; slot < 4u; slot++) {
      if (gather) {
        group[slot] += block[slot];
        block[slot] = vec4<f32>();
      }
      if (flush) {
        total[slot] += group[slot];
        group[slot] = vec4<f32>();
      }
    }
  }
  if (batch < params.batches) {
    //: unroll
    for (var slot = 0u; slot < 4u; slot++) {
      store(first, batch, row + 4u * a_quad + slot, column + 4u * b_quad, total[slot]);
    }
  }
}
