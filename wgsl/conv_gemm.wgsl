// Convolution as one matrix product for each group, gathering windows as it loads them (implicit GEMM).
//
// y[m, n] = sum over k of w[m, k] * window[k, n]; k runs over (c, kD, kH, kW), n over (image, oD, oH, oW).
// A workgroup makes TILE_M x TILE_N outputs in steps of TILE_K; a thread makes 4 VM x 4 VN of them in
// registers. Slot s of a tile's row holds the vec4 of columns s, s + S, s + 2 S, s + 3 S (S = tile / 4), so
// that neighbouring threads load, read and store neighbouring elements. The next step's elements are
// loaded into registers while this one is computed.
// Sums: chains of 32 terms, gathered in groups of 128, gathered in turn (docs/kernels/conv.md, Numbers).
// Workgroups: m tiles, then n tiles, groups, k ranges; more than one k range writes planes of raw sums.
// Bindings: x, w, bias, residual, slope; y; params. Source: ONNX Conv-22.

alias X = f32;  // elements of x
alias T = f32;  // elements of w, bias, residual, slope
alias Y = f32;  // elements of y
const HAS_BIAS: bool = false;
const HAS_RESIDUAL: bool = false;
const HAS_SLOPE: bool = false;
const KD: u32 = 1u;                // taps; KW = 0 takes them from params
const KH: u32 = 3u;
const KW: u32 = 3u;
const DEEP: bool = false;          // more than one output or tap along the depth
const PADDED: bool = true;         // windows may reach over the edges
const W_BY_K: bool = false;        // w lies as (group, k, M) in rows of params.w_row elements, not as (M, k)
const TILE_M: u32 = 64u;
const TILE_N: u32 = 64u;
const TILE_K: u32 = 16u;
const VM: u32 = 1u;
const VN: u32 = 1u;
const K_STEP: u32 = 4u;            // steps of k that are written out
const SLOTS_M: u32 = TILE_M / 4u;
const SLOTS_N: u32 = TILE_N / 4u;
const THREADS_M: u32 = SLOTS_M / VM;
const THREADS_N: u32 = SLOTS_N / VN;
const THREADS: u32 = THREADS_M * THREADS_N;
const A_LOADS: u32 = TILE_K * SLOTS_M / THREADS;
const B_LOADS: u32 = TILE_K * SLOTS_N / THREADS;
const SUMS: u32 = 4u * VM * VN;
const_assert THREADS % SLOTS_M == 0u && THREADS % SLOTS_N == 0u && THREADS % TILE_K == 0u;
const_assert 32u % TILE_K == 0u && SLOTS_M * VM * THREADS_N == SLOTS_M * SLOTS_N * VM / VN;

struct Params {
  n: u32, group: u32, c: u32, m: u32,   // images, groups, input and output channels of one group
  d: u32, h: u32, w: u32,               // input extents
  od: u32, oh: u32, ow: u32,            // output extents
  kd: u32, kh: u32, kw: u32,            // taps
  sd: u32, sh: u32, sw: u32,            // strides
  dd: u32, dh: u32, dw: u32,            // dilations
  pd: i32, ph: i32, pw: i32,            // pads before the first element
  x_offset: u32, w_offset: u32, bias_offset: u32, residual_offset: u32, slope_offset: u32, y_offset: u32,
  m_tiles: u32, n_tiles: u32, ranges: u32, range: u32,  // k ranges, terms of each (a multiple of 32)
  w_row: u32,
}

@group(0) @binding(0) var<storage, read> x: array<X>;
@group(0) @binding(1) var<storage, read> w: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read> residual: array<T>;
@group(0) @binding(4) var<storage, read> slope: array<T>;
@group(0) @binding(5) var<storage, read_write> y: array<Y>;
@group(0) @binding(6) var<uniform> params: Params;

var<workgroup> a_tile: array<vec4<f32>, TILE_K * SLOTS_M>;
var<workgroup> b_tile: array<vec4<f32>, TILE_K * SLOTS_N>;

//: region activation
fn activation(v: f32) -> f32 { return v; }
//: end

fn kw() -> u32 { return select(KW, params.kw, KW == 0u); }
fn kh() -> u32 { return select(KH, params.kh, KW == 0u); }
fn taps() -> u32 { return select(KD * KH * KW, params.kd * params.kh * params.kw, KW == 0u); }

fn finish(sum: f32, channel: u32, index: u32) -> Y {
  var v = sum;
  if (HAS_BIAS) { v = v + f32(bias[params.bias_offset + channel]); }
  if (HAS_RESIDUAL) { v = v + f32(residual[params.residual_offset + index]); }
  if (HAS_SLOPE) { v = select(v * f32(slope[params.slope_offset + channel]), v, v >= 0.0); }
  return Y(activation(v));
}

// Where a weight of row m (within the group) and term k lies. Rows beyond the last repeat it: never stored.
fn w_at(group: u32, m: u32, k: u32) -> u32 {
  let row = min(m, params.m - 1u);
  if (W_BY_K) { return params.w_offset + (group * params.c * taps() + k) * params.w_row + row; }
  return params.w_offset + (group * params.m + row) * params.c * taps() + k;
}

// Slot s of term k: four weights. Terms beyond the range are zeros on both sides.
fn load_a(group: u32, m: u32, k: u32, k_end: u32) -> vec4<f32> {
  if (k >= k_end) { return vec4<f32>(); }
  return vec4<f32>(f32(w[w_at(group, m, k)]), f32(w[w_at(group, m + SLOTS_M, k)]),
                   f32(w[w_at(group, m + 2u * SLOTS_M, k)]), f32(w[w_at(group, m + 3u * SLOTS_M, k)]));
}

// Four windows' first taps in the group's first channel: index (it wraps where it is negative) and position.
struct Columns {
  at: vec4<u32>,
  d: vec4<i32>,
  h: vec4<i32>,
  w: vec4<i32>,
}

fn columns(group: u32, first: u32) -> Columns {
  let pixels = params.od * params.oh * params.ow;
  // Columns beyond the last repeat it: never stored.
  let n = min(vec4<u32>(first, first + SLOTS_N, first + 2u * SLOTS_N, first + 3u * SLOTS_N),
              vec4<u32>(params.n * pixels - 1u));
  let pixel = n % pixels;
  let row = pixel / params.ow;
  var found: Columns;
  found.w = vec4<i32>(pixel % params.ow * params.sw) - params.pw;
  found.h = vec4<i32>(row * params.sh) - params.ph;
  found.d = vec4<i32>();
  if (DEEP) {
    found.h = vec4<i32>(row % params.oh * params.sh) - params.ph;
    found.d = vec4<i32>(row / params.oh * params.sd) - params.pd;
  }
  let channel = (n / pixels * params.group + group) * params.c;
  let plane = vec4<u32>(found.d) * params.h + vec4<u32>(found.h);
  found.at = params.x_offset + channel * (params.d * params.h * params.w) + plane * params.w + vec4<u32>(found.w);
  return found;
}

fn fetch(at: u32, inside: bool) -> f32 {
  if (inside) { return f32(x[at]); }
  return 0.0;
}

// Term k of four windows.
fn load_b(column: Columns, k: u32, k_end: u32) -> vec4<f32> {
  if (k >= k_end) { return vec4<f32>(); }
  let channel = k / taps();
  let d = k % taps() / (kh() * kw()) * params.dd;
  let h = k / kw() % kh() * params.dh;
  let v = k % kw() * params.dw;
  let at = column.at + (channel * params.d * params.h + d * params.h + h) * params.w + v;
  if (!PADDED) { return vec4<f32>(f32(x[at.x]), f32(x[at.y]), f32(x[at.z]), f32(x[at.w])); }
  var inside = (vec4<u32>(column.h + i32(h)) < vec4<u32>(params.h)) & (vec4<u32>(column.w + i32(v)) < vec4<u32>(params.w));
  if (DEEP) { inside = inside & (vec4<u32>(column.d + i32(d)) < vec4<u32>(params.d)); }
  return vec4<f32>(fetch(at.x, inside.x), fetch(at.y, inside.y), fetch(at.z, inside.z), fetch(at.w, inside.w));
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let tile = id.y * groups.x + id.x;
  let m0 = tile % params.m_tiles * TILE_M;
  let n0 = tile / params.m_tiles % params.n_tiles * TILE_N;
  let group = tile / (params.m_tiles * params.n_tiles) % params.group;
  let range = tile / (params.m_tiles * params.n_tiles) / params.group;
  if (range >= params.ranges) { return; }
  let k_begin = range * params.range;
  let k_end = min(k_begin + params.range, params.c * taps());

  // Which elements this thread loads: w's rows are read along k, so slots of a tile's row turn with k
  // to spread the stores over the banks.
  let a_k = select(thread % TILE_K, thread / SLOTS_M, W_BY_K);
  let a_slot = select(thread / TILE_K, thread % SLOTS_M, W_BY_K);
  let b_k = thread / SLOTS_N;
  let b_slot = thread % SLOTS_N;
  let column = columns(group, n0 + b_slot);
  let ty = thread / THREADS_N;
  let tx = thread % THREADS_N;

  var a_next: array<vec4<f32>, A_LOADS>;
  var b_next: array<vec4<f32>, B_LOADS>;
  var block: array<vec4<f32>, SUMS>;
  var gathered: array<vec4<f32>, SUMS>;
  var total: array<vec4<f32>, SUMS>;
  // One round more than steps: a round computes what the round before has loaded.
  for (var k0 = k_begin; k0 < k_end + TILE_K; k0 += TILE_K) {
    if (k0 > k_begin) {
      workgroupBarrier();
      //: unroll
      for (var i = 0u; i < A_LOADS; i++) {
        if (W_BY_K) {
          a_tile[(a_k + i * (THREADS / SLOTS_M)) * SLOTS_M + a_slot] = a_next[i];
        } else {
          a_tile[a_k * SLOTS_M + (a_slot + i * (THREADS / TILE_K) + a_k) % SLOTS_M] = a_next[i];
        }
      }
      //: unroll
      for (var i = 0u; i < B_LOADS; i++) {
        b_tile[(b_k + i * (THREADS / SLOTS_N)) * SLOTS_N + b_slot] = b_next[i];
      }
      workgroupBarrier();
    }
    //: unroll
    for (var i = 0u; i < A_LOADS; i++) {
      if (W_BY_K) {
        a_next[i] = load_a(group, m0 + a_slot, k0 + a_k + i * (THREADS / SLOTS_M), k_end);
      } else {
        a_next[i] = load_a(group, m0 + a_slot + i * (THREADS / TILE_K), k0 + a_k, k_end);
      }
    }
    //: unroll
    for (var i = 0u; i < B_LOADS; i++) {
      b_next[i] = load_b(column, k0 + b_k + i * (THREADS / SLOTS_N), k_end);
    }
    if (k0 == k_begin) { continue; }
    for (var step = 0u; step < TILE_K; step += K_STEP) {
      //: unroll
      for (var u = 0u; u < K_STEP; u++) {
        let k = step + u;
        let turn = select(k, 0u, W_BY_K);
        var a: array<vec4<f32>, VM>;
        var b: array<vec4<f32>, VN>;
        //: unroll
        for (var i = 0u; i < VM; i++) {
          a[i] = a_tile[k * SLOTS_M + (ty + i * THREADS_M + turn) % SLOTS_M];
        }
        //: unroll
        for (var j = 0u; j < VN; j++) {
          b[j] = b_tile[k * SLOTS_N + tx + j * THREADS_N];
        }
        //: unroll
        for (var i = 0u; i < VM; i++) {
          //: unroll
          for (var j = 0u; j < VN; j++) {
            block[(i * 4u + 0u) * VN + j] += a[i].x * b[j];
            block[(i * 4u + 1u) * VN + j] += a[i].y * b[j];
            block[(i * 4u + 2u) * VN + j] += a[i].z * b[j];
            block[(i * 4u + 3u) * VN + j] += a[i].w * b[j];
          }
        }
      }
    }
    if ((k0 - k_begin) % 32u == 0u) {
      //: unroll
      for (var e = 0u; e < SUMS; e++) {
        gathered[e] += block[e];
        block[e] = vec4<f32>();
      }
    }
    if ((k0 - k_begin) % 128u == 0u) {
      //: unroll
      for (var e = 0u; e < SUMS; e++) {
        total[e] += gathered[e];
        gathered[e] = vec4<f32>();
      }
    }
  }

  let pixels = params.od * params.oh * params.ow;
  let channels = params.group * params.m;
  let plane = range * params.n * channels * pixels;
  //: unroll
  for (var j = 0u; j < VN; j++) {
    //: unroll
    for (var c = 0u; c < 4u; c++) {
      let n = n0 + tx + j * THREADS_N + c * SLOTS_N;
      let base = (n / pixels * channels + group * params.m) * pixels + n % pixels;
      //: unroll
      for (var i = 0u; i < VM; i++) {
        //: unroll
        for (var r = 0u; r < 4u; r++) {
          let m = m0 + ty + i * THREADS_M + r * SLOTS_M;
          if ((m < params.m) & (n < params.n * pixels)) {
            let index = base + m * pixels;
            let e = total[(i * 4u + r) * VN + j][c] + (gathered[(i * 4u + r) * VN + j][c] + block[(i * 4u + r) * VN + j][c]);
            y[params.y_offset + plane + index] = finish(e, group * params.m + m, index);
          }
        }
      }
    }
  }
}
