// Convolution as one matrix product for each group, gathering windows as it loads them (implicit GEMM).
//
// y[m, n] = sum over k of w[m, k] * window[k, n]; k is (c, kD, kH, kW) unless BY_TAP, n is (image, oD, oH, oW).
// A workgroup makes TILE_M x TILE_N outputs in steps of TILE_K; a thread makes 4 VM x 4 VN of them in
// registers, loading the next step's elements while it computes. Slot s of a tile's row holds columns
// s, s + S, s + 2 S, s + 3 S (S = tile / 4): neighbouring threads load, read and store neighbours.
// Sums: chains of 32 terms, added in order (docs/kernels/conv.md, Numbers).
// Workgroups: m tiles, then n tiles, groups, k ranges; more than one k range writes planes of raw sums.
// Bindings: x, w, bias, residual, slope; y; params. Source: ONNX Conv-22.

alias X = f32;  // elements of x
alias T = f32;  // elements of w, bias, residual, slope
alias Y = f32;  // elements of y
const HAS_BIAS: bool = false;
const HAS_RESIDUAL: bool = false;
const HAS_SLOPE: bool = false;
const KD: u32 = 1u;                // taps; KW = 0 takes them from params, KD = 1 has no padding along the depth
const KH: u32 = 3u;
const KW: u32 = 3u;
const PADDED: bool = true;         // windows may reach over the edges
const W_BY_K: bool = false;        // w lies as (group, k, M) in rows of params.w_row elements, not as (M, k)
const BY_TAP: bool = false;        // k runs over (kD, kH, kW, c), and TILE_K divides c: a step has one tap
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
const B_STEP_K: u32 = THREADS / SLOTS_N;
const SUMS: u32 = 4u * VM * VN;
const_assert THREADS % SLOTS_M == 0u && THREADS % SLOTS_N == 0u && THREADS % TILE_K == 0u && 32u % TILE_K == 0u;

struct Params {
  n: u32, group: u32, c: u32, m: u32,  // images, groups, input and output channels of one group
  d: u32, h: u32, w: u32, od: u32, oh: u32, ow: u32,  // input and output extents
  kd: u32, kh: u32, kw: u32, sd: u32, sh: u32, sw: u32, dd: u32, dh: u32, dw: u32,  // taps, strides, dilations
  pd: i32, ph: i32, pw: i32,  // pads before the first element
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

// Four weights of term k. Rows beyond the last repeat it: never stored.
fn load_a(group: u32, m: u32, k: u32) -> vec4<f32> {
  let row = min(vec4<u32>(m, m + SLOTS_M, m + 2u * SLOTS_M, m + 3u * SLOTS_M), vec4<u32>(params.m - 1u));
  let terms = params.c * taps();
  let by_k = vec4<bool>(W_BY_K);
  let at = params.w_offset
           + select((group * params.m + row) * terms + k, (group * terms + k) * params.w_row + row, by_k);
  return vec4<f32>(f32(w[at.x]), f32(w[at.y]), f32(w[at.z]), f32(w[at.w]));
}

// Four windows' first taps in the group's first channel: index (it wraps where it is negative) and position.
struct Columns { at: vec4<u32>, d: vec4<i32>, h: vec4<i32>, w: vec4<i32> }

fn columns(group: u32, first: u32) -> Columns {
  let pixels = params.od * params.oh * params.ow;
  // Columns beyond the last repeat it: never stored.
  let n = min(vec4<u32>(first, first + SLOTS_N, first + 2u * SLOTS_N, first + 3u * SLOTS_N),
              vec4<u32>(params.n * pixels - 1u));
  let row = n % pixels / params.ow;
  let d = vec4<i32>(row / params.oh * params.sd) - params.pd;
  let h = vec4<i32>(row % params.oh * params.sh) - params.ph;
  let v = vec4<i32>(n % params.ow * params.sw) - params.pw;
  let channel = (n / pixels * params.group + group) * params.c;
  let at = ((channel * params.d + vec4<u32>(d)) * params.h + vec4<u32>(h)) * params.w + vec4<u32>(v);
  return Columns(params.x_offset + at, d, h, v);
}

// How far a tap lies from the first one, and which of four windows have it inside the input.
struct Reach { offset: u32, inside: vec4<bool> }

fn reach(column: Columns, tap: u32) -> Reach {
  let d = tap / (kh() * kw()) * params.dd;
  let h = tap / kw() % kh() * params.dh;
  let v = tap % kw() * params.dw;
  var found = Reach((d * params.h + h) * params.w + v, vec4<bool>(true));
  if (PADDED) {  // a negative position becomes huge
    found.inside = (vec4<u32>(column.h + i32(h)) < vec4<u32>(params.h))
                   & (vec4<u32>(column.w + i32(v)) < vec4<u32>(params.w));
    if (KD != 1u) { found.inside = found.inside & (vec4<u32>(column.d + i32(d)) < vec4<u32>(params.d)); }
  }
  return found;
}

// Elements outside are replaced when they are stored to the tile: a use here would wait for the load.
fn load_b(at: vec4<u32>, inside: vec4<bool>) -> vec4<f32> {
  let i = select(vec4<u32>(params.x_offset), at, inside);
  return vec4<f32>(f32(x[i.x]), f32(x[i.y]), f32(x[i.z]), f32(x[i.w]));
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

  // What this thread loads. w's rows are read along k, so slots turn with k to spread the stores over the banks.
  let a_k = select(thread % TILE_K, thread / SLOTS_M, W_BY_K);
  let a_slot = select(thread / TILE_K, thread % SLOTS_M, W_BY_K);
  let a_step = select(vec2<u32>(THREADS / TILE_K, 0u), vec2<u32>(0u, THREADS / SLOTS_M), W_BY_K);  // slots, terms
  let b_k = thread / SLOTS_N;
  let b_slot = thread % SLOTS_N;
  let column = columns(group, n0 + b_slot);
  let volume = params.d * params.h * params.w;
  let ty = thread / THREADS_N;
  let tx = thread % THREADS_N;

  var a_next: array<vec4<f32>, A_LOADS>;
  var b_next: array<vec4<f32>, B_LOADS>;
  var b_inside: array<vec4<bool>, B_LOADS>;
  var block: array<vec4<f32>, SUMS>;
  var total: array<vec4<f32>, SUMS>;
  // One round more than steps: a round computes what the round before has loaded.
  for (var k0 = k_begin; k0 < k_end + TILE_K; k0 += TILE_K) {
    if (k0 > k_begin) {
      workgroupBarrier();
      //: unroll
      for (var i = 0u; i < A_LOADS; i++) {
        let k = a_k + i * a_step.y;
        let counts = vec4<bool>(k0 - TILE_K + k < k_end);
        a_tile[k * SLOTS_M + (a_slot + i * a_step.x + select(k, 0u, W_BY_K)) % SLOTS_M]
          = select(vec4<f32>(), a_next[i], counts);
      }
      //: unroll
      for (var i = 0u; i < B_LOADS; i++) {
        b_tile[(b_k + i * B_STEP_K) * SLOTS_N + b_slot] = select(vec4<f32>(), b_next[i], b_inside[i]);
      }
      workgroupBarrier();
    }
    //: unroll
    for (var i = 0u; i < A_LOADS; i++) {
      a_next[i] = load_a(group, m0 + a_slot + i * a_step.x, min(k0 + a_k + i * a_step.y, k_end - 1u));
    }
    if (BY_TAP) {
      let tap = k0 / params.c;
      let one = reach(column, tap);
      let first = column.at + one.offset + (k0 - tap * params.c + b_k) * volume;
      //: unroll
      for (var i = 0u; i < B_LOADS; i++) {
        b_inside[i] = one.inside & vec4<bool>(k0 < k_end);
        b_next[i] = load_b(first + i * B_STEP_K * volume, b_inside[i]);
      }
    } else {
      //: unroll
      for (var i = 0u; i < B_LOADS; i++) {
        let k = k0 + b_k + i * B_STEP_K;
        let one = reach(column, k % taps());
        b_inside[i] = one.inside & vec4<bool>(k < k_end);
        b_next[i] = load_b(column.at + one.offset + k / taps() * volume, b_inside[i]);
      }
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
        total[e] += block[e];
        block[e] = vec4<f32>();
      }
    }
  }
  let pixels = params.od * params.oh * params.ow;
  let channels = params.group * params.m;
  let plane = range * params.n * channels * pixels;
  //: unroll
  for (var e = 0u; e < 4u * VN; e++) {
    let n = n0 + tx + e / 4u * THREADS_N + e % 4u * SLOTS_N;
    let base = (n / pixels * channels + group * params.m) * pixels + n % pixels;
    //: unroll
    for (var r = 0u; r < 4u * VM; r++) {
      let m = m0 + ty + r / 4u * THREADS_M + r % 4u * SLOTS_M;
      if ((m < params.m) & (n < params.n * pixels)) {
        let index = base + m * pixels;
        let sum = total[r * VN + e / 4u][e % 4u] + block[r * VN + e / 4u][e % 4u];
        y[params.y_offset + plane + index] = finish(sum, group * params.m + m, index);
      }
    }
  }
}
