// Windows of a convolution written out as columns (im2col), for a matrix product to follow.
//
// x: (N, C, D, H, W). y: (N, C kD kH kW, oD oH oW) float32. One thread makes one element.
// Bindings: x; y; params. Source: issue 3, im2col.

alias T = f32;
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
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let pixels = params.od * params.oh * params.ow;
  let taps = params.kd * params.kh * params.kw;
  let index = (id.y * groups.x + id.x) * WORKGROUP + thread;
  if (index >= params.n * params.group * params.c * taps * pixels) { return; }
  let pixel = index % pixels;
  let tap = index / pixels % taps;
  let channel = index / pixels / taps;  // over all images
  let out = vec3<u32>(pixel / params.ow / params.oh, pixel / params.ow % params.oh, pixel % params.ow);
  let reach = vec3<u32>(tap / params.kw / params.kh, tap / params.kw % params.kh, tap % params.kw);
  let at = vec3<u32>(vec3<i32>(out * vec3<u32>(params.sd, params.sh, params.sw)
                               + reach * vec3<u32>(params.dd, params.dh, params.dw))
                     - vec3<i32>(params.pd, params.ph, params.pw));  // a negative one becomes huge
  var v = 0.0;
  if (all(at < vec3<u32>(params.d, params.h, params.w))) {
    v = f32(x[params.x_offset + ((channel * params.d + at.x) * params.h + at.y) * params.w + at.z]);
  }
  y[params.y_offset + index] = v;
}
