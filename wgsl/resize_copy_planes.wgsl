// Nearest resize as resize_copy.wgsl, of 32-bit elements: a thread moves the same place of several planes, so
// that it looks its index up once.
//
// x: (planes, in0, in1, in2, inner), y: (planes, out0, out1, out2, inner), bits of 32-bit elements.
// taps: for each axis the index of each output, 0xffffffff outside of a crop. Thread: one place of PLANES planes.
// Bindings: x, taps, y, params. Source: ONNX Resize-19.

const PLANES: u32 = 4u;
const WORKGROUP: u32 = 64u;
const OUTSIDE: u32 = 0xffffffffu;

struct Params {
  x_offset: u32,
  y_offset: u32,
  planes: u32,
  fill: u32,  // the bits of the value outside of a crop
  inner: u32,
  in0: u32,
  in1: u32,
  in2: u32,
  out0: u32,
  out1: u32,
  out2: u32,
  taps0: u32,  // where an axis' indices begin in taps
  taps1: u32,
  taps2: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> taps: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let thread = (id.y * groups.x + id.x) * WORKGROUP + local.x;
  let places = params.out0 * params.out1 * params.out2 * params.inner;
  let place = thread % places;
  let first = thread / places * PLANES;
  if (first >= params.planes) {
    return;
  }
  var rest = place / params.inner;
  let i2 = taps[params.taps2 + rest % params.out2];
  rest /= params.out2;
  let i1 = taps[params.taps1 + rest % params.out1];
  let i0 = taps[params.taps0 + rest / params.out1];
  let is_outside = max(i0, max(i1, i2)) == OUTSIDE;
  let source = params.x_offset + ((i0 * params.in1 + i1) * params.in2 + i2) * params.inner + place % params.inner;
  let plane_size = params.in0 * params.in1 * params.in2 * params.inner;
  for (var plane = first; plane < min(first + PLANES, params.planes); plane++) {
    var bits = params.fill;
    if (!is_outside) {
      bits = x[source + plane * plane_size];
    }
    y[params.y_offset + plane * places + place] = bits;
  }
}
