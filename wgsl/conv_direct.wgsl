// Convolution of few input channels (a stem over a picture, groups of few channels): direct.
//
// x: (N, C, D, H, W). w: (M, C/group, kD, kH, kW). bias, slope: (M). residual, y: (N, M, oD, oH, oW).
// A workgroup keeps the weights of 4 ROWS_4 output channels in its memory; a thread makes those channels
// of PIXELS output pixels, WORKGROUP apart, so that a loaded input serves all of them. Taps are added in
// the order of w, one chain for each output.
// Workgroups: channel tiles, then pixel tiles, groups.
// Bindings: x, w, bias, residual, slope; y; params. Source: ONNX Conv-22.

alias T = f32;
const HAS_BIAS: bool = false;
const HAS_RESIDUAL: bool = false;
const HAS_SLOPE: bool = false;
const WORKGROUP: u32 = 64u;
const ROWS_4: u32 = 4u;
const PIXELS: u32 = 2u;
const TERMS: u32 = 64u;   // most input channels times taps
const KW_STEP: u32 = 3u;  // taps along the width that are written out at a time

struct Params {
  n: u32, group: u32, c: u32, m: u32,   // images, groups, input and output channels of one group
  d: u32, h: u32, w: u32,               // input extents
  od: u32, oh: u32, ow: u32,            // output extents
  kd: u32, kh: u32, kw: u32,            // taps
  sd: u32, sh: u32, sw: u32,            // strides
  dd: u32, dh: u32, dw: u32,            // dilations
  pd: i32, ph: i32, pw: i32,            // pads before the first element
  x_offset: u32, w_offset: u32, bias_offset: u32, residual_offset: u32, slope_offset: u32, y_offset: u32,
}

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> w: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read> residual: array<T>;
@group(0) @binding(4) var<storage, read> slope: array<T>;
@group(0) @binding(5) var<storage, read_write> y: array<T>;
@group(0) @binding(6) var<uniform> params: Params;

var<workgroup> weights: array<vec4<f32>, TERMS * ROWS_4>;

//: region activation
fn activation(v: f32) -> f32 { return v; }
//: end

fn finish(sum: f32, channel: u32, index: u32) -> T {
  var v = sum;
  if (HAS_BIAS) { v = v + f32(bias[params.bias_offset + channel]); }
  if (HAS_RESIDUAL) { v = v + f32(residual[params.residual_offset + index]); }
  if (HAS_SLOPE) { v = select(v * f32(slope[params.slope_offset + channel]), v, v >= 0.0); }
  return T(activation(v));
}

fn weight(group: u32, row: u32, term: u32, terms: u32) -> f32 {
  let last = min(row, params.m - 1u);  // rows beyond the last repeat it: never stored
  return f32(w[params.w_offset + (group * params.m + last) * terms + term]);
}

// x at an index, 0 outside. No branch here nor in what calls it: SwiftShader takes minutes to compile 80 of them.
fn fetch(at: u32, inside: bool) -> f32 {
  return select(0.0, f32(x[select(params.x_offset, at, inside)]), inside);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let pixels = params.od * params.oh * params.ow;
  let terms = params.c * params.kd * params.kh * params.kw;
  let row_tiles = (params.m + 4u * ROWS_4 - 1u) / (4u * ROWS_4);
  let pixel_tiles = (params.n * pixels + WORKGROUP * PIXELS - 1u) / (WORKGROUP * PIXELS);
  let tile = id.y * groups.x + id.x;
  let row0 = tile % row_tiles * 4u * ROWS_4;
  let n0 = tile / row_tiles % pixel_tiles * WORKGROUP * PIXELS + thread;
  let group = tile / row_tiles / pixel_tiles;
  if (group >= params.group) { return; }

  for (var i = thread; i < terms * ROWS_4; i += WORKGROUP) {
    let row = row0 + i % ROWS_4 * 4u;
    let term = i / ROWS_4;
    weights[i] = vec4<f32>(weight(group, row, term, terms), weight(group, row + 1u, term, terms),
                           weight(group, row + 2u, term, terms), weight(group, row + 3u, term, terms));
  }
  workgroupBarrier();

  var base: array<u32, PIXELS>;
  var left: array<vec3<i32>, PIXELS>;
  //: unroll
  for (var p = 0u; p < PIXELS; p++) {
    let n = min(n0 + p * WORKGROUP, params.n * pixels - 1u);
    let pixel = n % pixels;
    let at = vec3<u32>(pixel / (params.oh * params.ow), pixel / params.ow % params.oh, pixel % params.ow);
    base[p] = params.x_offset + (n / pixels * params.group + group) * params.c * params.d * params.h * params.w;
    left[p] = vec3<i32>(at * vec3<u32>(params.sd, params.sh, params.sw)) - vec3<i32>(params.pd, params.ph, params.pw);
  }
  var sum: array<vec4<f32>, PIXELS * ROWS_4>;
  let steps_w = params.kw / KW_STEP;
  for (var step = 0u; step < terms / KW_STEP; step++) {
    let row = step / steps_w;  // of the window: channel, depth, height
    let c = row / (params.kd * params.kh);
    let tap = vec2<i32>(vec2<u32>(row / params.kh % params.kd * params.dd, row % params.kh * params.dh));
    //: unroll
    for (var t = 0u; t < KW_STEP; t++) {
      let across = i32((step % steps_w * KW_STEP + t) * params.dw);
      //: unroll
      for (var p = 0u; p < PIXELS; p++) {
        let at = vec3<u32>(left[p] + vec3<i32>(tap, across));  // a negative one becomes huge
        let inside = all(at < vec3<u32>(params.d, params.h, params.w));
        let v = fetch(base[p] + ((c * params.d + at.x) * params.h + at.y) * params.w + at.z, inside);
        //: unroll
        for (var r = 0u; r < ROWS_4; r++) {
          sum[p * ROWS_4 + r] += v * weights[(step * KW_STEP + t) * ROWS_4 + r];
        }
      }
    }
  }
  //: unroll
  for (var p = 0u; p < PIXELS; p++) {
    let n = n0 + p * WORKGROUP;
    let first = (n / pixels * params.group + group) * params.m * pixels + n % pixels;
    //: unroll
    for (var r = 0u; r < 4u * ROWS_4; r++) {
      if ((n < params.n * pixels) & (row0 + r < params.m)) {
        let index = first + (row0 + r) * pixels;
        y[params.y_offset + index] = finish(sum[p * ROWS_4 + r / 4u][r % 4u], group * params.m + row0 + r, index);
      }
    }
  }
}
