// Average and Lp pooling of planes with a small square kernel: as pool.wgsl, with the same order of sums.
//
// x: (planes, h, w), y: (planes, oh, ow), both T. Thread: ROWS outputs of
// one column, so that it divides once for all of them.
// Region norm: pool_norm.wgsl. Bindings: x, y, params. Source: ONNX AveragePool-22, LpPool-22.

alias T = f32;
const KERNEL: u32 = 3u;
const COUNT_INCLUDE_PAD: bool = false;
const ROWS: u32 = 4u;
const WORKGROUP: u32 = 64u;

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
  end_h: u32,  // elements and end padding: taps from here on count for nothing
  end_w: u32,
  p: f32,
}

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> params: Params;

//: region norm
fn term(v: f32, p: f32) -> f32 { return v; }
fn finish(sum: f32, count: u32, p: f32) -> f32 { return sum / f32(count); }
//: end

// Taps of a window along one axis that lie before `end`.
fn taps_before(end: u32, start: i32, dilation: u32) -> u32 {
  return min(KERNEL, (u32(i32(end) - start) + dilation - 1u) / dilation);
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
    var sum = 0.0;
    var count = 0u;
    //: unroll
    for (var kh = 0u; kh < KERNEL; kh++) {
      let ih = h0 + i32(kh * params.dilation_h);
      if (ih >= 0 && ih < i32(params.h)) {
        let row = params.x_offset + (plane * params.h + u32(ih)) * params.w;
        var row_sum = 0.0;
        //: unroll
        for (var kw = 0u; kw < KERNEL; kw++) {
          let iw = w0 + i32(kw * params.dilation_w);
          if (iw >= 0 && iw < i32(params.w)) {
            row_sum += term(f32(x[row + u32(iw)]), params.p);
            count++;
          }
        }
        sum += row_sum;
      }
    }
    if (COUNT_INCLUDE_PAD) {
      count = taps_before(params.end_h, h0, params.dilation_h) * taps_before(params.end_w, w0, params.dilation_w);
    }
    y[params.y_offset + (plane * params.oh + oh) * params.ow + ow] = T(finish(sum, count, params.p));
  }
}
