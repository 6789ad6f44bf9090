// Max pooling of planes with a small square kernel: as pool_max.wgsl, for 32-bit floats without indices.
//
// x: (planes, h, w), y: (planes, oh, ow), bits of float32. Thread: ROWS
// outputs of one column, so that it divides once for all of them. Bindings: x, y, params. Source: ONNX MaxPool-22.

const KERNEL: u32 = 3u;
const ROWS: u32 = 4u;
const WORKGROUP: u32 = 64u;
const LOWEST: u32 = 0xff7fffffu;  // the result of a window without elements

struct Params {
  x_offset: u32,
  y_offset: u32,
  columns: u32,  // of all planes
  blocks: u32,   // of ROWS rows in a plane
  h: u32,
  w: u32,
  oh: u32,
  ow: u32,
  stride_h: u32,
  stride_w: u32,
  dilation_h: u32,
  dilation_w: u32,
  pad_h: u32,
  pad_w: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

// A number that orders as the float does; 0 for NaN, below all others; the two zeros are one.
fn order_key(bits: u32) -> u32 {
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return 0u;
  }
  return select(bits | 0x80000000u, ~bits, bits > 0x80000000u);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let group = id.y * groups.x + id.x;
  let column = group / params.blocks * WORKGROUP + local.x;
  if (column >= params.columns) {
    return;
  }
  let first = group % params.blocks * ROWS;
  let plane = column / params.ow;
  let ow = column % params.ow;
  let w0 = i32(ow * params.stride_w) - i32(params.pad_w);
  for (var oh = first; oh < min(first + ROWS, params.oh); oh++) {
    let h0 = i32(oh * params.stride_h) - i32(params.pad_h);
    var best = LOWEST;
    var best_key = 0u;
    var seen = false;
    //: unroll
    for (var kh = 0u; kh < KERNEL; kh++) {
      let ih = h0 + i32(kh * params.dilation_h);
      if (ih >= 0 && ih < i32(params.h)) {
        let row = params.x_offset + (plane * params.h + u32(ih)) * params.w;
        //: unroll
        for (var kw = 0u; kw < KERNEL; kw++) {
          let iw = w0 + i32(kw * params.dilation_w);
          if (iw >= 0 && iw < i32(params.w)) {
            let bits = x[row + u32(iw)];
            let tap_key = order_key(bits);
            if (!seen || tap_key > best_key) {
              seen = true;
              best_key = tap_key;
              best = bits;
            }
          }
        }
      }
    }
    y[params.y_offset + (plane * params.oh + oh) * params.ow + ow] = best;
  }
}
