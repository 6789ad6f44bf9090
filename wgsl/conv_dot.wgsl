// Convolution with few output pixels (squeeze-and-excite, heads after pooling): a dot product each.
//
// x: (N, C, D, H, W). w: (M, C/group, kD, kH, kW). bias, slope: (M). residual, y: (N, M, oD, oH, oW).
// A workgroup makes one output channel of four columns (pixels, over all images): thread t adds terms
// t, t + WORKGROUP ... so that w is read in rows, and the threads' sums are added as a tree.
// Sums: chains of at most 32 terms, gathered; then the tree.
// Workgroups: channels, then tiles of four columns.
// Bindings: x, w, bias, residual, slope; y; params. Source: ONNX Conv-22.

alias T = f32;
const HAS_BIAS: bool = false;
const HAS_RESIDUAL: bool = false;
const HAS_SLOPE: bool = false;
const WORKGROUP: u32 = 64u;
const AHEAD: u32 = 4u;
const_assert 32u % AHEAD == 0u;

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

var<workgroup> partial: array<vec4<f32>, WORKGROUP>;

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

fn fetch(at: u32, inside: bool) -> f32 {
  return select(0.0, f32(x[select(params.x_offset, at, inside)]), inside);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let pixels = params.od * params.oh * params.ow;
  let taps = params.kd * params.kh * params.kw;
  let terms = params.c * taps;
  let channels = params.group * params.m;
  let tile = id.y * groups.x + id.x;
  let channel = tile % channels;
  let n0 = tile / channels * 4u;
  if (n0 >= params.n * pixels) { return; }

  // Columns beyond the last repeat it: never stored.
  let n = min(vec4<u32>(n0, n0 + 1u, n0 + 2u, n0 + 3u), vec4<u32>(params.n * pixels - 1u));
  let pixel = n % pixels;
  let base = params.x_offset + (n / pixels * params.group + channel / params.m) * params.c
             * (params.d * params.h * params.w);
  let d0 = vec4<i32>(pixel / params.ow / params.oh * params.sd) - params.pd;
  let h0 = vec4<i32>(pixel / params.ow % params.oh * params.sh) - params.ph;
  let w0 = vec4<i32>(pixel % params.ow * params.sw) - params.pw;

  var block = vec4<f32>();
  var total = vec4<f32>();
  for (var k0 = thread; k0 < terms; k0 += AHEAD * WORKGROUP) {
    // Written out, so that the loads of AHEAD terms are under way together: a dot product waits for memory.
    //: unroll
    for (var i = 0u; i < AHEAD; i++) {
      let k = min(k0 + i * WORKGROUP, terms - 1u);
      let tap = k % taps;
      let d = vec4<u32>(d0 + i32(tap / (params.kh * params.kw) * params.dd));  // a negative one becomes huge
      let h = vec4<u32>(h0 + i32(tap / params.kw % params.kh * params.dh));
      let v = vec4<u32>(w0 + i32(tap % params.kw * params.dw));
      let counts = k0 + i * WORKGROUP < terms;
      let inside = (d < vec4<u32>(params.d)) & (h < vec4<u32>(params.h)) & (v < vec4<u32>(params.w))
                   & vec4<bool>(counts);
      let at = base + ((k / taps * params.d + d) * params.h + h) * params.w + v;
      block += select(0.0, f32(w[params.w_offset + channel * terms + k]), counts)
               * vec4<f32>(fetch(at.x, inside.x), fetch(at.y, inside.y), fetch(at.z, inside.z), fetch(at.w, inside.w));
    }
    if ((k0 / WORKGROUP + AHEAD) % 32u == 0u) {
      total += block;
      block = vec4<f32>();
    }
  }
  partial[thread] = total + block;
  for (var half = WORKGROUP / 2u; half > 0u; half = half / 2u) {
    workgroupBarrier();
    if (thread < half) { partial[thread] += partial[thread + half]; }
  }
  workgroupBarrier();
  let column = n0 + thread;
  if (thread < 4u && column < params.n * pixels) {
    let index = (column / pixels * channels + channel) * pixels + column % pixels;
    y[params.y_offset + index] = finish(partial[0][thread], channel, index);
  }
}
