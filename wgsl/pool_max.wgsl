// Max pooling over windows of 1 to 3 axes, any element type, by comparing bits; optionally where the max lies.
//
// x, y: (planes, d, h, w), row major, packed into u32 words (one 32-bit, two 16-bit or four 8-bit elements).
// indices: (planes, od, oh, ow) i32, flat in the whole of x, -1 where a window holds no element.
// Thread: one word of y, so that neighbours never write the same word; words at the ends keep the
// elements that are not ours. Integer keys order floats exactly, and no optimiser can lose a NaN.
// Bindings: x, y, indices, params. Source: ONNX MaxPool-22.

const BITS: u32 = 32u;              // of an element: 32, 16, 8
const ORDER: u32 = 0u;              // 0 float, 1 signed, 2 unsigned
const INFINITY: u32 = 0x7f800000u;  // float: the bits of infinity, shifted to the top
const LOWEST: u32 = 0xff7fffffu;    // the result of a window without elements
const MASK: u32 = 0xffffffffu;      // BITS ones
const INDICES: bool = false;
const COLUMN_MAJOR: bool = false;   // storage_order 1
const WORKGROUP: u32 = 64u;
const PER_WORD: u32 = 32u / BITS;

struct Params {
  x_offset: u32,
  y_offset: u32,
  indices_offset: u32,
  outputs: u32,
  words: u32,  // words of y that hold outputs
  d: u32,
  h: u32,
  w: u32,
  od: u32,
  oh: u32,
  ow: u32,
  kd: u32,
  kh: u32,
  kw: u32,
  stride_d: u32,
  stride_h: u32,
  stride_w: u32,
  dilation_d: u32,
  dilation_h: u32,
  dilation_w: u32,
  pad_d: u32,
  pad_h: u32,
  pad_w: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<storage, read_write> indices: array<i32>;
@group(0) @binding(3) var<uniform> params: Params;

struct Best {
  bits: u32,
  index: i32,
}

fn element(i: u32) -> u32 {
  return (x[i / PER_WORD] >> (i % PER_WORD * BITS)) & MASK;
}

// A number that orders as the element does; 0 for NaN, below all others; the two zeros are one.
fn order_key(bits: u32) -> u32 {
  let top = bits << (32u - BITS);
  if (ORDER == 2u) {
    return top;
  }
  if (ORDER == 1u) {
    return top ^ 0x80000000u;
  }
  if ((top & 0x7fffffffu) > INFINITY) {
    return 0u;
  }
  if (top > 0x80000000u) {
    return ~top;
  }
  return top | 0x80000000u;
}

fn flat_index(plane: u32, id: u32, ih: u32, iw: u32) -> i32 {
  let first = plane * params.d * params.h * params.w;
  if (COLUMN_MAJOR) {
    return i32(first + id + params.d * (ih + params.h * iw));
  }
  return i32(first + iw + params.w * (ih + params.h * id));
}

fn pool(out: u32) -> Best {
  let ow = out % params.ow;
  let oh = out / params.ow % params.oh;
  let od = out / (params.ow * params.oh) % params.od;
  let plane = out / (params.ow * params.oh * params.od);
  let d0 = i32(od * params.stride_d) - i32(params.pad_d);
  let h0 = i32(oh * params.stride_h) - i32(params.pad_h);
  let w0 = i32(ow * params.stride_w) - i32(params.pad_w);
  var best = Best(LOWEST, -1);
  var best_key = 0u;
  var seen = false;
  for (var kd = 0u; kd < params.kd; kd++) {
    let id = d0 + i32(kd * params.dilation_d);
    if (id < 0 || id >= i32(params.d)) {
      continue;
    }
    for (var kh = 0u; kh < params.kh; kh++) {
      let ih = h0 + i32(kh * params.dilation_h);
      if (ih < 0 || ih >= i32(params.h)) {
        continue;
      }
      let row = params.x_offset + ((plane * params.d + u32(id)) * params.h + u32(ih)) * params.w;
      for (var kw = 0u; kw < params.kw; kw++) {
        let iw = w0 + i32(kw * params.dilation_w);
        if (iw < 0 || iw >= i32(params.w)) {
          continue;
        }
        let bits = element(row + u32(iw));
        let tap_key = order_key(bits);
        if (!seen || tap_key > best_key) {
          seen = true;
          best_key = tap_key;
          best.bits = bits;
          if (INDICES) {
            best.index = flat_index(plane, u32(id), u32(ih), u32(iw));
          }
        }
      }
    }
  }
  return best;
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
      let best = pool(at - params.y_offset);
      merged = (merged & ~(MASK << (lane * BITS))) | (best.bits << (lane * BITS));
      if (INDICES) {
        indices[params.indices_offset + at - params.y_offset] = best.index;
      }
    }
  }
  y[word] = merged;
}
