// Depthwise convolution: one input channel for each group, any number of outputs for it.
//
// x: (N, C, D, H, W). w: (M, 1, kD, kH, kW). bias, slope: (M). residual, y: (N, M, oD, oH, oW).
// A thread makes OUTPUTS neighbours along the width: it loads the stretch of a row that they share once
// and adds taps in the window's order, one chain for each output.
// Bindings: x, w, bias, residual, slope; y; params. Source: ONNX Conv-22.

alias T = f32;
const HAS_BIAS: bool = false;
const HAS_RESIDUAL: bool = false;
const HAS_SLOPE: bool = false;
const WORKGROUP: u32 = 64u;
const OUTPUTS: u32 = 4u;
const KH_STEP: u32 = 3u;  // taps that are written out at a time along the height and the width
const KW_STEP: u32 = 3u;
const SW: u32 = 1u;       // stride and dilation along the width; of no matter where OUTPUTS or KW_STEP is 1
const DW: u32 = 1u;
const STRETCH: u32 = (OUTPUTS - 1u) * SW + (KW_STEP - 1u) * DW + 1u;

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

// x at an index, 0 outside. No branch here nor in what calls it: SwiftShader takes minutes to compile 80 of them.
fn fetch(at: u32, inside: bool) -> f32 {
  return select(0.0, f32(x[select(params.x_offset, at, inside)]), inside);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let tiles = (params.ow + OUTPUTS - 1u) / OUTPUTS;
  let channels = params.group * params.m;
  let rows = params.od * params.oh;
  let index = (id.y * groups.x + id.x) * WORKGROUP + thread;
  if (index >= params.n * channels * rows * tiles) { return; }
  let ow = index % tiles * OUTPUTS;
  let row = index / tiles % rows;
  let channel = index / tiles / rows % channels;
  let image = index / tiles / rows / channels;
  let x_base = params.x_offset + (image * params.group + channel / params.m) * params.d * params.h * params.w;
  let w_base = params.w_offset + channel * params.kd * params.kh * params.kw;
  let iw0 = i32(ow * params.sw) - params.pw;
  let ih0 = i32(row % params.oh * params.sh) - params.ph;
  let id0 = i32(row / params.oh * params.sd) - params.pd;

  var sum: array<f32, OUTPUTS>;
  var stretch: array<f32, STRETCH>;
  let steps_w = params.kw / KW_STEP;
  let steps_h = params.kh / KH_STEP;
  // One loop for all that is not written out: three in each other compile ten times slower on SwiftShader.
  for (var step = 0u; step < params.kd * steps_h * steps_w; step++) {
    let kd = step / (steps_h * steps_w);
    let kh0 = step / steps_w % steps_h * KH_STEP;
    let kw0 = step % steps_w * KW_STEP;
    let d = id0 + i32(kd * params.dd);
    let v = iw0 + i32(kw0 * params.dw);
    //: unroll
    for (var i = 0u; i < KH_STEP; i++) {
      let h = ih0 + i32((kh0 + i) * params.dh);
      let inside = (u32(d) < params.d) & (u32(h) < params.h);  // a negative one becomes huge
      let x_row = x_base + (u32(d) * params.h + u32(h)) * params.w + u32(v);
      //: unroll
      for (var s = 0u; s < STRETCH; s++) {
        stretch[s] = fetch(x_row + s, inside & (u32(v + i32(s)) < params.w));
      }
      let w_row = w_base + (kd * params.kh + kh0 + i) * params.kw + kw0;
      //: unroll
      for (var t = 0u; t < KW_STEP; t++) {
        let weight = f32(w[w_row + t]);
        //: unroll
        for (var o = 0u; o < OUTPUTS; o++) {
          sum[o] += weight * stretch[o * SW + t * DW];
        }
      }
    }
  }
  let first = ((image * channels + channel) * rows + row) * params.ow + ow;
  //: unroll
  for (var o = 0u; o < OUTPUTS; o++) {
    if (ow + o < params.ow) { y[params.y_offset + first + o] = finish(sum[o], channel, first + o); }
  }
}
