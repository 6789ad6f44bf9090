// Col2Im: every element of an image is the sum of the block elements that were taken from it.
//
// x: (n, c, taps, blocks), taps being (kd, kh, kw) and blocks (bd, bh, bw); y: (n, c, d, h, w), both T.
// Thread: one element of y; it sums in the order of the taps, in float32, no atomics.
// Bindings: x, y, params. Source: ONNX Col2Im-18.

alias T = f32;
const WORKGROUP: u32 = 64u;

struct Params {
  x_offset: u32,
  y_offset: u32,
  outputs: u32,
  d: u32,
  h: u32,
  w: u32,
  bd: u32,
  bh: u32,
  bw: u32,
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

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> params: Params;

// The block along an axis whose tap reaches `at` (begin padding counted); `blocks` where none does.
fn block_of(at: u32, reach: u32, stride: u32, blocks: u32) -> u32 {
  if (at < reach || (at - reach) % stride != 0u) {
    return blocks;
  }
  return min((at - reach) / stride, blocks);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let out = (id.y * groups.x + id.x) * WORKGROUP + local.x;
  if (out >= params.outputs) {
    return;
  }
  let w = out % params.w + params.pad_w;
  let h = out / params.w % params.h + params.pad_h;
  let d = out / (params.w * params.h) % params.d + params.pad_d;
  let first_tap = out / (params.w * params.h * params.d) * params.kd * params.kh * params.kw;
  let blocks = params.bd * params.bh * params.bw;
  var sum = 0.0;
  for (var kd = 0u; kd < params.kd; kd++) {
    let bd = block_of(d, kd * params.dilation_d, params.stride_d, params.bd);
    if (bd == params.bd) {
      continue;
    }
    for (var kh = 0u; kh < params.kh; kh++) {
      let bh = block_of(h, kh * params.dilation_h, params.stride_h, params.bh);
      if (bh == params.bh) {
        continue;
      }
      for (var kw = 0u; kw < params.kw; kw++) {
        let bw = block_of(w, kw * params.dilation_w, params.stride_w, params.bw);
        if (bw < params.bw) {
          let tap = first_tap + (kd * params.kh + kh) * params.kw + kw;
          sum += f32(x[params.x_offset + tap * blocks + (bd * params.bh + bh) * params.bw + bw]);
        }
      }
    }
  }
  y[params.y_offset + out] = T(sum);
}
