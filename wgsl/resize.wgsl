// Linear and cubic resize of up to three neighbouring axes at once, by tables of taps made on the host.
//
// x: (outer, in0, in1, in2, inner) IN, y: (outer, out0, out1, out2, inner) OUT, row major.
// taps: for each axis the starts (u32, 0xffffffff for outputs outside of a crop), then WIDTH weights
// (f32) for each output. Thread: one output; the innermost axis is summed first, all in float32.
// Bindings: x, taps, y, params. Source: ONNX Resize-19.

alias IN = f32;
alias OUT = f32;
const WIDTH0: u32 = 1u;  // taps of an output along each axis; 0 where params tell
const WIDTH1: u32 = 2u;
const WIDTH2: u32 = 2u;
const WORKGROUP: u32 = 64u;
const OUTSIDE: u32 = 0xffffffffu;

struct Params {
  x_offset: u32,
  y_offset: u32,
  outputs: u32,
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
  width0: u32,
  width1: u32,
  width2: u32,
}

@group(0) @binding(0) var<storage, read> x: array<IN>;
@group(0) @binding(1) var<storage, read> taps: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<OUT>;
@group(0) @binding(3) var<uniform> params: Params;

// A weight of 0 takes nothing, also of infinities and NaN.
fn weighted(weight: f32, v: f32) -> f32 {
  return select(weight * v, 0.0, weight == 0.0);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let out = (id.y * groups.x + id.x) * WORKGROUP + local.x;
  if (out >= params.outputs) {
    return;
  }
  let lane = out % params.inner;
  var rest = out / params.inner;
  let o2 = rest % params.out2;
  rest /= params.out2;
  let o1 = rest % params.out1;
  rest /= params.out1;
  let o0 = rest % params.out0;
  let outer = rest / params.out0;
  let start0 = taps[params.taps0 + o0];
  let start1 = taps[params.taps1 + o1];
  let start2 = taps[params.taps2 + o2];
  if (max(start0, max(start1, start2)) == OUTSIDE) {
    y[params.y_offset + out] = OUT(params.fill);
    return;
  }
  let width0 = select(WIDTH0, params.width0, WIDTH0 == 0u);
  let width1 = select(WIDTH1, params.width1, WIDTH1 == 0u);
  let width2 = select(WIDTH2, params.width2, WIDTH2 == 0u);
  let weights0 = params.taps0 + params.out0 + o0 * width0;
  let weights1 = params.taps1 + params.out1 + o1 * width1;
  let weights2 = params.taps2 + params.out2 + o2 * width2;
  var sum0 = 0.0;
  for (var k0 = 0u; k0 < width0; k0++) {
    let plane = (outer * params.in0 + start0 + k0) * params.in1 + start1;
    var sum1 = 0.0;
    for (var k1 = 0u; k1 < width1; k1++) {
      let row = params.x_offset + ((plane + k1) * params.in2 + start2) * params.inner + lane;
      var sum2 = 0.0;
      for (var k2 = 0u; k2 < width2; k2++) {
        sum2 += weighted(bitcast<f32>(taps[weights2 + k2]), f32(x[row + k2 * params.inner]));
      }
      sum1 += weighted(bitcast<f32>(taps[weights1 + k1]), sum2);
    }
    sum0 += weighted(bitcast<f32>(taps[weights0 + k0]), sum1);
  }
  y[params.y_offset + out] = OUT(sum0);
}
