// Nearest upscale by whole factors, without tables: each input element becomes a block of equal outputs.
//
// x: (rows, w, inner), a row being (outer, in0, in1); y: (outer, out0, out1, w * FACTOR2, inner), both packed
// into u32 words (one 32-bit, two 16-bit or four 8-bit elements); rows of y are whole words.
// Workgroup: SPAN neighbouring words of the FACTOR0 * FACTOR1 output rows of one input row, so that
// divisions are of the workgroup's index, the same for all threads.
// Bindings: x, y, params. Source: ONNX Resize-19, Upsample-9.

const BITS: u32 = 32u;          // of an element: 32, 16, 8
const MASK: u32 = 0xffffffffu;  // BITS ones
const FACTOR0: u32 = 1u;
const FACTOR1: u32 = 2u;
const FACTOR2: u32 = 2u;
const CHANNELS_LAST: bool = false;  // inner is more than 1
const WORKGROUP: u32 = 64u;
const PER_THREAD: u32 = 4u;
const SPAN: u32 = WORKGROUP * PER_THREAD;
const PER_WORD: u32 = 32u / BITS;

struct Params {
  x_offset: u32,
  y_offset: u32,  // in words
  rows: u32,
  spans: u32,   // workgroups to a row
  in0: u32,
  in1: u32,
  length: u32,  // words of an output row, w * FACTOR2 * inner elements
  inner: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

// The element of an input row that is output `at` of its rows.
fn source(at: u32) -> u32 {
  if (CHANNELS_LAST) {
    return at / params.inner / FACTOR2 * params.inner + at % params.inner;
  }
  return at / FACTOR2;
}

fn word_of(first: u32, at: u32) -> u32 {
  var word = 0u;
  //: unroll
  for (var lane = 0u; lane < PER_WORD; lane++) {
    let i = first + source(at * PER_WORD + lane);
    word |= ((x[i / PER_WORD] >> (i % PER_WORD * BITS)) & MASK) << (lane * BITS);
  }
  return word;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let group = id.y * groups.x + id.x;
  let row = group / params.spans;
  if (row >= params.rows) {
    return;
  }
  let i1 = row % params.in1;
  let block = row / params.in1 * FACTOR0;  // the first output plane, counting (outer, out0)
  let first = params.x_offset + row * (params.length * PER_WORD / FACTOR2);
  for (var k = 0u; k < PER_THREAD; k++) {
    let at = group % params.spans * SPAN + k * WORKGROUP + local.x;
    if (at < params.length) {
      let word = word_of(first, at);
      for (var r0 = 0u; r0 < FACTOR0; r0++) {
        for (var r1 = 0u; r1 < FACTOR1; r1++) {
          let out_row = (block + r0) * params.in1 * FACTOR1 + i1 * FACTOR1 + r1;
          y[params.y_offset + out_row * params.length + at] = word;
        }
      }
    }
  }
}
