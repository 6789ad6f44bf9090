// Max pooling of whole planes, any element type, by comparing bits: a fixed halving tree, as pool_global.wgsl.
//
// x: rows of elements packed into u32 words (one 32-bit, two 16-bit or four 8-bit elements), or of keys
// in a second stage. y: one element a row, packed likewise, or keys in a first stage.
// LANES threads make one word of y, so that neighbours never write the same word. A key is a u32 that
// orders as the element does, 0 for NaN, which any number beats.
// Bindings: x, y, params. Source: ONNX GlobalMaxPool-22.

const BITS: u32 = 32u;              // of an element: 32, 16, 8
const ORDER: u32 = 0u;              // 0 float, 1 signed, 2 unsigned
const INFINITY: u32 = 0x7f800000u;  // float: the bits of infinity, shifted to the top
const MASK: u32 = 0xffffffffu;      // BITS ones
const FIRST: bool = true;           // x holds elements, not keys
const LAST: bool = true;            // y takes elements, not keys
const LANES: u32 = 64u;             // a power of two
const WORKGROUP: u32 = 256u;
const ROWS: u32 = WORKGROUP / LANES;
const PER_WORD: u32 = 32u / BITS;
const AT_ONCE: u32 = 4u;            // loads under way together

struct Params {
  x_offset: u32,
  y_offset: u32,
  rows: u32,
  words: u32,   // words of y that hold rows
  plane: u32,   // elements of a plane, or keys of one
  chunks: u32,  // rows that share a plane
  chunk: u32,   // elements of a row; the last one of a plane may have fewer
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> keys: array<u32, WORKGROUP>;

fn key_of(i: u32) -> u32 {
  if (!FIRST) {
    return x[i];
  }
  let top = ((x[i / PER_WORD] >> (i % PER_WORD * BITS)) & MASK) << (32u - BITS);
  if (ORDER == 2u) {
    return top;
  }
  if (ORDER == 1u) {
    return top ^ 0x80000000u;
  }
  if ((top & 0x7fffffffu) > INFINITY) {
    return 0u;
  }
  return select(top | 0x80000000u, ~top, top >= 0x80000000u);
}

fn element_of(key: u32) -> u32 {
  if (ORDER == 2u) {
    return key >> (32u - BITS);
  }
  if (ORDER == 1u) {
    return (key ^ 0x80000000u) >> (32u - BITS);
  }
  if (key == 0u) {
    return (INFINITY | (INFINITY >> 1u)) >> (32u - BITS);  // a quiet NaN
  }
  return select(~key, key & 0x7fffffffu, key >= 0x80000000u) >> (32u - BITS);
}

fn lane_max(row: u32, lane: u32) -> u32 {
  let begin = row % params.chunks * params.chunk;
  let end = min(begin + params.chunk, params.plane);
  let first = params.x_offset + row / params.chunks * params.plane;
  var best = 0u;
  for (var i = begin + lane; i < end; i += LANES * AT_ONCE) {
    //: unroll
    for (var k = 0u; k < AT_ONCE; k++) {
      if (i + k * LANES < end) {
        best = max(best, key_of(first + i + k * LANES));
      }
    }
  }
  return best;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  const TO_WORDS = LAST && PER_WORD > 1u;
  let ours = (id.y * groups.x + id.x) * ROWS + local / LANES;
  let lane = local % LANES;
  let per_word = select(1u, PER_WORD, LAST);
  let word = params.y_offset / per_word + ours;
  var merged = 0u;
  if (TO_WORDS && ours < params.words) {
    merged = y[word];
  }
  for (var part = 0u; part < per_word; part++) {
    let at = word * per_word + part;
    let row = at - params.y_offset;
    let valid = ours < params.words && at >= params.y_offset && row < params.rows;
    workgroupBarrier();  // the part before may still be read
    keys[local] = 0u;
    if (valid) {
      keys[local] = lane_max(row, lane);
    }
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
      workgroupBarrier();
      if (lane < half) {
        keys[local] = max(keys[local], keys[local + half]);
      }
    }
    if (valid && lane == 0u) {
      if (LAST) {
        merged = (merged & ~(MASK << (part * BITS))) | (element_of(keys[local]) << (part * BITS));
      } else {
        merged = keys[local];
      }
    }
  }
  if (lane == 0u && ours < params.words) {
    y[word] = merged;
  }
}
