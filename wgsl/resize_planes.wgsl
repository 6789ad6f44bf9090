// Linear and cubic resize as resize.wgsl, for windows of at most four taps: a thread makes the same place of
// several planes, so that it finds its taps once.
//
// x: (planes, in0, in1, in2, inner) IN, y: (planes, out0, out1, out2, inner) OUT, row major.
// taps: as in resize.wgsl. Thread: one place of PLANES planes; sums in the order of resize.wgsl.
// Bindings: x, taps, y, params. Source: ONNX Resize-19.

alias IN = f32;
alias OUT = f32;
const WIDTH0: u32 = 1u;  // taps of an output along each axis
const WIDTH1: u32 = 2u;
const WIDTH2: u32 = 2u;
const PLANES: u32 = 4u;
const WORKGROUP: u32 = 64u;
const OUTSIDE: u32 = 0xffffffffu;

struct Params {
  x_offset: u32,
  y_offset: u32,
  planes: u32,
  fill: f32,  // the value outside of a crop
  inner: u32,
  in0: u32,
  in1: u32,
  in2: u32,
  out0: u32,
  out1: u32,
  out2: u32,
  taps0: u32,  // where an axis' starts begin in taps
  taps1: u32,
  taps2: u32,
}

@group(0) @binding(0) var<storage, read> x: array<IN>;
@group(0) @binding(1) var<storage, read> taps: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<OUT>;
@group(0) @binding(3) var<uniform> params: Params;

fn weights(first: u32, width: u32) -> vec4f {
  var loaded = vec4f(0.0);
  loaded.x = bitcast<f32>(taps[first]);
  if (width > 1u) {
    loaded.y = bitcast<f32>(taps[first + 1u]);
  }
  if (width > 2u) {
    loaded.z = bitcast<f32>(taps[first + 2u]);
  }
  if (width > 3u) {
    loaded.w = bitcast<f32>(taps[first + 3u]);
  }
  return loaded;
}

// A weight of 0 takes nothing, also of infinities and NaN.
fn weighted(weight: f32, v: f32) -> f32 {
  return select(weight * v, 0.0, weight == 0.0);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let thread = (id.y * groups.x + id.x) * WORKGROUP + local.x;
  let places = params.out0 * params.out1 * params.out2 * params.inner;
  let place = thread % places;
  let first = thread / places * PLANES;
  if (first >= params.planes) {
    return;
  }
  let lane = place % params.inner;
  var rest = place / params.inner;
  let o2 = rest % params.out2;
  rest /= params.out2;
  let o1 = rest % params.out1;
  let o0 = rest / params.out1;
  let start0 = taps[params.taps0 + o0];
  let start1 = taps[params.taps1 + o1];
  let start2 = taps[params.taps2 + o2];
  let is_outside = max(start0, max(start1, start2)) == OUTSIDE;
  let weights0 = weights(params.taps0 + params.out0 + o0 * WIDTH0, WIDTH0);
  let weights1 = weights(params.taps1 + params.out1 + o1 * WIDTH1, WIDTH1);
  let weights2 = weights(params.taps2 + params.out2 + o2 * WIDTH2, WIDTH2);
  let base = ((start0 * params.in1 + start1) * params.in2 + start2) * params.inner + lane;
  let plane_size = params.in0 * params.in1 * params.in2 * params.inner;
  for (var plane = first; plane < min(first + PLANES, params.planes); plane++) {
    let target_index = params.y_offset + plane * places + place;
    if (is_outside) {
      y[target_index] = OUT(params.fill);
      continue;
    }
    let source = params.x_offset + plane * plane_size + base;
    var sum0 = 0.0;
    //: unroll
    for (var k0 = 0u; k0 < WIDTH0; k0++) {
      var sum1 = 0.0;
      //: unroll
      for (var k1 = 0u; k1 < WIDTH1; k1++) {
        let row = source + (k0 * params.in1 + k1) * params.in2 * params.inner;
        var sum2 = 0.0;
        //: unroll
        for (var k2 = 0u; k2 < WIDTH2; k2++) {
          sum2 += weighted(weights2[k2], f32(x[row + k2 * params.inner]));
        }
        sum1 += weighted(weights1[k1], sum2);
      }
      sum0 += weighted(weights0[k0], sum1);
    }
    y[target_index] = OUT(sum0);
  }
}
