// Nearest resize of up to three neighbouring axes at once, by tables of indices made on the host.
//
// x: (outer, in0, in1, in2, inner), y: (outer, out0, out1, out2, inner), row major, packed into u32 words
// (one 32-bit, two 16-bit or four 8-bit elements). taps: for each axis the index of each output,
// 0xffffffff outside of a crop. Thread: one word of y, so that neighbours never write the same word;
// words at the ends keep the elements that are not ours. Bits move unchanged.
// Bindings: x, taps, y, params. Source: ONNX Resize-19.

const BITS: u32 = 32u;           // of an element: 32, 16, 8
const MASK: u32 = 0xffffffffu;   // BITS ones
const WORKGROUP: u32 = 64u;
const OUTSIDE: u32 = 0xffffffffu;
const PER_WORD: u32 = 32u / BITS;

struct Params {
  x_offset: u32,
  y_offset: u32,
  outputs: u32,
  words: u32,  // words of y that hold outputs
  fill: u32,   // the bits of the value outside of a crop
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

fn bits_of(out: u32) -> u32 {
  let lane = out % params.inner;
  var rest = out / params.inner;
  let i2 = taps[params.taps2 + rest % params.out2];
  rest /= params.out2;
  let i1 = taps[params.taps1 + rest % params.out1];
  rest /= params.out1;
  let i0 = taps[params.taps0 + rest % params.out0];
  let outer = rest / params.out0;
  if (max(i0, max(i1, i2)) == OUTSIDE) {
    return params.fill;
  }
  let i = params.x_offset + (((outer * params.in0 + i0) * params.in1 + i1) * params.in2 + i2) * params.inner + lane;
  return (x[i / PER_WORD] >> (i % PER_WORD * BITS)) & MASK;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let ours = (id.y * groups.x + id.x) * WORKGROUP + local.x;
  if (ours >= params.words) {
    return;
  }
  let word = params.y_offset / PER_WORD + ours;
  var merged = 0u;
  if (BITS != 32u) {
    merged = y[word];
  }
  for (var lane = 0u; lane < PER_WORD; lane++) {
    let at = word * PER_WORD + lane;
    if (at >= params.y_offset && at - params.y_offset < params.outputs) {
      merged = (merged & ~(MASK << (lane * BITS))) | (bits_of(at - params.y_offset) << (lane * BITS));
    }
  }
  y[word] = merged;
}
