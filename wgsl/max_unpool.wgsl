// Last step of max_unpool: each place takes its owner's element, or 0; places beyond the inferred shape are 0.
//
// x: elements packed into u32 words (one 32-bit, two 16-bit or four 8-bit). owners: (planes, id, ih, iw).
// y: (planes, od, oh, ow), packed likewise. Thread: one word of y; words at the ends keep what is not ours.
// Bindings: x, owners, y, params. Source: ONNX MaxUnpool-22.

const BITS: u32 = 32u;          // of an element: 32, 16, 8
const MASK: u32 = 0xffffffffu;  // BITS ones
const WORKGROUP: u32 = 64u;
const PER_WORD: u32 = 32u / BITS;

struct Params {
  x_offset: u32,
  owners_offset: u32,
  y_offset: u32,
  outputs: u32,
  words: u32,  // words of y that hold outputs
  id: u32,     // the inferred sizes
  ih: u32,
  iw: u32,
  od: u32,
  oh: u32,
  ow: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> owners: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

fn bits_of(out: u32) -> u32 {
  let w = out % params.ow;
  let h = out / params.ow % params.oh;
  let d = out / (params.ow * params.oh) % params.od;
  let plane = out / (params.ow * params.oh * params.od);
  if (w >= params.iw || h >= params.ih || d >= params.id) {
    return 0u;
  }
  let owner = owners[params.owners_offset + ((plane * params.id + d) * params.ih + h) * params.iw + w];
  if (owner == 0u) {
    return 0u;
  }
  let i = params.x_offset + owner - 1u;
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
