// Convolution in its plainest form: the reference that every other variant is checked against on the GPU.
//
// x: (N, C, D, H, W). w: (M, C/group, kD, kH, kW). bias, slope: (M). residual, y: (N, M, oD, oH, oW).
// One thread makes one output: window sums of one channel each, added channel by channel.
// Bindings: x, w, bias, residual, slope; y; params. Source: ONNX Conv-22.

alias T = f32;
const HAS_BIAS: bool = false;
const HAS_RESIDUAL: bool = false;
const HAS_SLOPE: bool = false;
const WORKGROUP: u32 = 64u;

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

// The window at (od, oh, ow) over the channel that starts at `x_base`, with the taps that start at `w_base`.
fn window_sum(x_base: u32, w_base: u32, od: u32, oh: u32, ow: u32) -> f32 {
  var sum = 0.0;
  for (var kd = 0u; kd < params.kd; kd++) {
    let id = i32(od * params.sd + kd * params.dd) - params.pd;
    for (var kh = 0u; kh < params.kh; kh++) {
      let ih = i32(oh * params.sh + kh * params.dh) - params.ph;
      for (var kw = 0u; kw < params.kw; kw++) {
        let iw = i32(ow * params.sw + kw * params.dw) - params.pw;
        let inside = u32(id) < params.d && u32(ih) < params.h && u32(iw) < params.w;  // a negative one becomes huge
        let at = x_base + (u32(id) * params.h + u32(ih)) * params.w + u32(iw);
        // Zeros outside are terms too: an infinite weight makes NaN of them.
        let v = select(0.0, f32(x[select(x_base, at, inside)]), inside);
        sum = sum + v * f32(w[w_base + (kd * params.kh + kh) * params.kw + kw]);
      }
    }
  }
  return sum;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let pixels = params.od * params.oh * params.ow;
  let channels = params.group * params.m;
  let index = (id.y * groups.x + id.x) * WORKGROUP + thread;
  if (index >= params.n * channels * pixels) { return; }
  let pixel = index % pixels;
  let channel = index / pixels % channels;
  let image = index / pixels / channels;
  let ow = pixel % params.ow;
  let oh = pixel / params.ow % params.oh;
  let od = pixel / params.ow / params.oh;
  let first = (image * params.group + channel / params.m) * params.c;
  let volume = params.d * params.h * params.w;
  let taps = params.kd * params.kh * params.kw;
  var sum = 0.0;
  for (var c = 0u; c < params.c; c++) {
    let x_base = params.x_offset + (first + c) * volume;
    let w_base = params.w_offset + (channel * params.c + c) * taps;
    sum = sum + window_sum(x_base, w_base, od, oh, ow);
  }
  y[params.y_offset + index] = finish(sum, channel, index);
}
