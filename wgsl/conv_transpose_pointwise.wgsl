// Transposed convolution whose kernel is its stride: windows do not overlap, so each input pixel alone
// makes the outputs of its window, and no sums meet.
//
// x: (N, C, D, H, W). w: (C, M/group, kD, kH, kW). bias, slope: (M). residual, y: (N, M, oD, oH, oW).
// A thread makes 4 ROWS_4 rows (output channel and tap, as they lie in w) of one input pixel; the
// workgroup's weights pass through its memory CHUNK channels at a time.
// Sums: chains of 32 channels, gathered in groups of 128, gathered in turn.
// Workgroups: row tiles, then pixel tiles, groups.
// Bindings: x, w, bias, residual, slope; y; params. Source: ONNX ConvTranspose-22.

alias T = f32;
const HAS_BIAS: bool = false;
const HAS_RESIDUAL: bool = false;
const HAS_SLOPE: bool = false;
const WORKGROUP: u32 = 64u;
const ROWS_4: u32 = 2u;
const CHUNK: u32 = 64u;
const AHEAD: u32 = 8u;
const_assert CHUNK % 32u == 0u && 32u % AHEAD == 0u;

struct Params {
  n: u32, group: u32, c: u32, m: u32,   // images, groups, input and output channels of one group
  d: u32, h: u32, w: u32,               // input extents
  od: u32, oh: u32, ow: u32,            // output extents
  kd: u32, kh: u32, kw: u32,            // taps
  sd: u32, sh: u32, sw: u32,            // strides
  dd: u32, dh: u32, dw: u32,            // dilations
  pd: i32, ph: i32, pw: i32,            // pads before the first element
  x_offset: u32, w_offset: u32, bias_offset: u32, residual_offset: u32, slope_offset: u32, y_offset: u32,
}

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> w: array<T>;
@group(0) @binding(2) var<storage, read> bias: array<T>;
@group(0) @binding(3) var<storage, read> residual: array<T>;
@group(0) @binding(4) var<storage, read> slope: array<T>;
@group(0) @binding(5) var<storage, read_write> y: array<T>;
@group(0) @binding(6) var<uniform> params: Params;

var<workgroup> weights: array<vec4<f32>, CHUNK * ROWS_4>;

//: region activation
fn activation(v: f32) -> f32 { return v; }
//: end

fn finish(sum: f32, channel: u32, index: u32) -> T {
  var v = sum;
  if (HAS_BIAS) { v = v + f32(bias[params.bias_offset + channel]); }
  if (HAS_RESIDUAL) { v = v + f32(residual[params.residual_offset + index]); }
  if (HAS_SLOPE) { v = select(v * f32(slope[params.slope_offset + channel]), v, v >= 0.0); }
  return T(activation(v));
}

fn weight(group: u32, c: u32, row: u32) -> f32 {
  let rows = params.m * params.kd * params.kh * params.kw;
  if (c >= params.c || row >= rows) { return 0.0; }
  return f32(w[params.w_offset + (group * params.c + c) * rows + row]);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let taps = params.kd * params.kh * params.kw;
  let volume = params.d * params.h * params.w;
  let row_tiles = (params.m * taps + 4u * ROWS_4 - 1u) / (4u * ROWS_4);
  let pixel_tiles = (params.n * volume + WORKGROUP - 1u) / WORKGROUP;
  let tile = id.y * groups.x + id.x;
  let row0 = tile % row_tiles * 4u * ROWS_4;
  let n = tile / row_tiles % pixel_tiles * WORKGROUP + thread;
  let group = tile / row_tiles / pixel_tiles;
  if (group >= params.group) { return; }
  let pixel = n % volume;
  let image = min(n / volume, params.n - 1u);  // threads beyond the last pixel load some other and store nothing
  let x_base = params.x_offset + (image * params.group + group) * params.c * volume + pixel;

  var block: array<vec4<f32>, ROWS_4>;
  var gathered: array<vec4<f32>, ROWS_4>;
  var total: array<vec4<f32>, ROWS_4>;
  for (var c0 = 0u; c0 < params.c; c0 += CHUNK) {
    workgroupBarrier();
    for (var i = thread; i < CHUNK * ROWS_4; i += WORKGROUP) {
      let c = c0 + i / ROWS_4;
      let row = row0 + i % ROWS_4 * 4u;
      weights[i] = vec4<f32>(weight(group, c, row), weight(group, c, row + 1u),
                             weight(group, c, row + 2u), weight(group, c, row + 3u));
    }
    workgroupBarrier();
    for (var c1 = 0u; (c1 < CHUNK) & (c0 + c1 < params.c); c1 += 32u) {
      for (var c2 = c1; c2 < min(c1 + 32u, params.c - c0); c2 += AHEAD) {
        // Written out, so that the loads of AHEAD channels are under way together.
        var v: array<f32, AHEAD>;
        //: unroll
        for (var i = 0u; i < AHEAD; i++) {
          v[i] = f32(x[x_base + min(c0 + c2 + i, params.c - 1u) * volume]);
        }
        //: unroll
        for (var i = 0u; i < AHEAD; i++) {
          let counted = select(0.0, v[i], c0 + c2 + i < params.c);  // beyond the last channel weights are 0, too
          //: unroll
          for (var r = 0u; r < ROWS_4; r++) {
            block[r] += counted * weights[(c2 + i) * ROWS_4 + r];
          }
        }
      }
      let whole = (c0 + c1 + 32u) % 128u == 0u;
      //: unroll
      for (var r = 0u; r < ROWS_4; r++) {
        gathered[r] += block[r];
        block[r] = vec4<f32>();
        if (whole) {
          total[r] += gathered[r];
          gathered[r] = vec4<f32>();
        }
      }
    }
  }
  if (n >= params.n * volume) { return; }

  let left = vec3<i32>(vec3<u32>(pixel / (params.h * params.w), pixel / params.w % params.h, pixel % params.w)
                       * vec3<u32>(params.sd, params.sh, params.sw)) - vec3<i32>(params.pd, params.ph, params.pw);
  //: unroll
  for (var r = 0u; r < ROWS_4; r++) {
    //: unroll
    for (var c = 0u; c < 4u; c++) {
      let row = row0 + r * 4u + c;
      let tap = row % taps;
      let at = vec3<u32>(left + vec3<i32>(vec3<u32>(tap / (params.kh * params.kw), tap / params.kw % params.kh,
                                                    tap % params.kw)));  // a negative one becomes huge
      if ((row / taps < params.m) & all(at < vec3<u32>(params.od, params.oh, params.ow))) {
        let channel = group * params.m + row / taps;
        let plane = (image * params.group * params.m + channel) * params.od + at.x;
        let index = (plane * params.oh + at.y) * params.ow + at.z;
        y[params.y_offset + index] = finish(total[r][c] + gathered[r][c], channel, index);
      }
    }
  }
}
