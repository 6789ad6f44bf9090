// Average and Lp pooling over windows of 1 to 3 axes.
//
// x: (planes, d, h, w), y: (planes, od, oh, ow), both T, row major. Thread: one output.
// Rows of a window are summed first, then their sums, all in float32.
// Region norm: pool_norm.wgsl. Bindings: x, y, params. Source: ONNX AveragePool-22, LpPool-22.

alias T = f32;
const COUNT_INCLUDE_PAD: bool = false;
const WORKGROUP: u32 = 64u;

struct Params {
  x_offset: u32,
  y_offset: u32,
  outputs: u32,
  p: f32,
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
  end_d: u32,  // elements and end padding: taps from here on count for nothing
  end_h: u32,
  end_w: u32,
}

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> params: Params;

//: region norm
fn term(v: f32, p: f32) -> f32 { return v; }
fn finish(sum: f32, count: u32, p: f32) -> f32 { return sum / f32(count); }
//: end

// Taps of a window along one axis that lie before `end`.
fn taps_before(end: u32, start: i32, kernel: u32, dilation: u32) -> u32 {
  return min(kernel, (u32(i32(end) - start) + dilation - 1u) / dilation);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let out = (id.y * groups.x + id.x) * WORKGROUP + local.x;
  if (out >= params.outputs) {
    return;
  }
  let ow = out % params.ow;
  let oh = out / params.ow % params.oh;
  let od = out / (params.ow * params.oh) % params.od;
  let plane = out / (params.ow * params.oh * params.od);
  let d0 = i32(od * params.stride_d) - i32(params.pad_d);
  let h0 = i32(oh * params.stride_h) - i32(params.pad_h);
  let w0 = i32(ow * params.stride_w) - i32(params.pad_w);
  var sum = 0.0;
  var count = 0u;
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
      var row_sum = 0.0;
      for (var kw = 0u; kw < params.kw; kw++) {
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
    count = taps_before(params.end_d, d0, params.kd, params.dilation_d)
      * taps_before(params.end_h, h0, params.kh, params.dilation_h)
      * taps_before(params.end_w, w0, params.kw, params.dilation_w);
  }
  y[params.y_offset + out] = T(finish(sum, count, params.p));
}
