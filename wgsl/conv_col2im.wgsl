// Outputs of a transposed convolution gathered from the columns that a matrix product made (col2im).
//
// columns: (N, M kD kH kW, D H W) float32. bias, slope: (M). residual, y: (N, M, oD, oH, oW).
// One thread makes one output: it adds the taps that reach it in the window's order.
// Bindings: columns, bias, residual, slope; y; params. Source: ONNX ConvTranspose-22.

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
  columns_offset: u32,
}

@group(0) @binding(0) var<storage, read> columns: array<f32>;
@group(0) @binding(1) var<storage, read> bias: array<T>;
@group(0) @binding(2) var<storage, read> residual: array<T>;
@group(0) @binding(3) var<storage, read> slope: array<T>;
@group(0) @binding(4) var<storage, read_write> y: array<T>;
@group(0) @binding(5) var<uniform> params: Params;

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

// The input index whose tap `t` elements before it lands on an output, or -1: `t` is output + pad - tap.
fn source_index(t: i32, stride: u32, extent: u32) -> i32 {
  if (t < 0 || u32(t) % stride != 0u || u32(t) / stride >= extent) { return -1; }
  return t / i32(stride);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let pixels = params.od * params.oh * params.ow;
  let channels = params.group * params.m;
  let index = (id.y * groups.x + id.x) * WORKGROUP + thread;
  if (index >= params.n * channels * pixels) { return; }
  let pixel = index % pixels;
  let ow = i32(pixel % params.ow) + params.pw;
  let oh = i32(pixel / params.ow % params.oh) + params.ph;
  let od = i32(pixel / params.ow / params.oh) + params.pd;
  let volume = params.d * params.h * params.w;
  let taps = params.kd * params.kh * params.kw;
  let base = params.columns_offset + index / pixels * taps * volume;  // channels over all images
  var sum = 0.0;
  for (var tap = 0u; tap < taps; tap++) {
    let iw = source_index(ow - i32(tap % params.kw * params.dw), params.sw, params.w);
    let ih = source_index(oh - i32(tap / params.kw % params.kh * params.dh), params.sh, params.h);
    let id = source_index(od - i32(tap / params.kw / params.kh * params.dd), params.sd, params.d);
    if (min(min(id, ih), iw) >= 0) {
      sum = sum + columns[base + tap * volume + (u32(id) * params.h + u32(ih)) * params.w + u32(iw)];
    }
  }
  y[params.y_offset + index] = finish(sum, index / pixels % channels, index);
}
