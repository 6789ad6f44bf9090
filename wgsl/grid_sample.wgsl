// GridSample: x read at the places of a grid, in two or three dimensions.
//
// x: (n, channels, d, h, w) T; grid: (n, positions, 3 or 2) G, x before y before z, in -1..1;
// y: (n, channels, positions) T. Two dimensions are a volume of depth 1.
// Thread: one position and CHANNELS channels, which share their taps.
// Bindings: x, grid, y, params. Source: ONNX GridSample-22.

alias T = f32;
alias G = f32;
const TAPS: u32 = 2u;        // along an axis: 1 nearest, 2 linear, 4 cubic
const VOLUME: bool = false;  // three dimensions
const CHANNELS: u32 = 1u;
const WORKGROUP: u32 = 64u;
const CUBIC: f32 = -0.75;

struct Params {
  x_offset: u32,
  grid_offset: u32,
  y_offset: u32,
  threads: u32,
  positions: u32,
  channels: u32,
  blocks: u32,  // threads that share a position: channels / CHANNELS, rounded up
  d: u32,
  h: u32,
  w: u32,
  padding: u32,        // 0 zeros, 1 border, 2 reflection
  align_corners: u32,  // 0 or 1
}

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> grid: array<G>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<uniform> params: Params;

// What one output takes along one axis; an index of -1 takes 0. lost: there is no such place.
struct Axis {
  at: vec4i,
  weight: vec4f,
  lost: bool,
}

const FARTHEST: f32 = 1e9;  // beyond all sizes, within i32

// NaN has no place in x, nor has infinity between two mirrors.
fn is_lost(v: f32) -> bool {
  return (bitcast<u32>(v) & 0x7fffffffu) > select(0x7f800000u, 0x7f7fffffu, params.padding == 2u);
}

fn not_a_number() -> f32 {
  return bitcast<f32>(0x7fc00000u | params.align_corners);  // a constant NaN is an error in WGSL
}

fn reflected(v: f32, size: u32) -> f32 {
  let low = select(-0.5, 0.0, params.align_corners == 1u);
  let high = f32(size) - 1.0 - low;
  let range = high - low;
  if (range <= 0.0) {
    return low;
  }
  let distance = max(low - v, v - high);
  if (distance <= 0.0) {
    return v;
  }
  let turns = floor(distance / range);
  let rest = distance - turns * range;
  let is_even = turns - 2.0 * floor(turns / 2.0) == 0.0;
  return select(high - rest, low + rest, (v < low) == is_even);
}

// The coordinate in x of a grid value, before any padding.
fn place_of(n: f32, size: u32) -> f32 {
  var v = ((n + 1.0) * f32(size) - 1.0) / 2.0;
  if (params.align_corners == 1u) {
    v = (n + 1.0) / 2.0 * (f32(size) - 1.0);
  }
  if (TAPS == 1u) {
    v = round(v);
  }
  return v;
}

// The same, moved inside where the padding says so.
fn moved_inside(place: f32, size: u32) -> f32 {
  var v = place;
  if (params.padding == 1u) {
    let low = select(-0.5, 0.0, params.align_corners == 1u);
    if (v < low || v > f32(size) - 1.0 - low) {
      v = clamp(v, 0.0, f32(size) - 1.0);
    }
  }
  if (params.padding == 2u) {
    v = reflected(v, size);
  }
  return v;
}

fn index(i: i32, size: u32) -> i32 {
  if (i >= 0 && i < i32(size)) {
    return i;
  }
  if (params.padding == 0u) {
    return -1;
  }
  if (params.padding == 1u) {
    return clamp(i, 0, i32(size) - 1);
  }
  return clamp(i32(reflected(f32(i), size)), 0, i32(size) - 1);
}

fn axis_of(n: f32, size: u32) -> Axis {
  let place = place_of(n, size);
  let lost = is_lost(place);
  // Casts of NaN and of what no i32 holds differ between devices.
  let v = clamp(moved_inside(select(place, 0.0, lost), size), -FARTHEST, FARTHEST);
  let below = i32(floor(v));
  let t = v - floor(v);
  if (TAPS == 1u) {
    return Axis(vec4i(index(i32(v), size)), vec4f(1.0), lost);
  }
  if (TAPS == 2u) {
    return Axis(vec4i(index(below, size), index(below + 1, size), 0, 0), vec4f(1.0 - t, t, 0.0, 0.0), lost);
  }
  let near = vec2f(t, 1.0 - t);
  let far = near + 1.0;
  let inner = ((CUBIC + 2.0) * near - (CUBIC + 3.0)) * near * near + 1.0;
  let outer = ((CUBIC * far - 5.0 * CUBIC) * far + 8.0 * CUBIC) * far - 4.0 * CUBIC;
  return Axis(
    vec4i(index(below - 1, size), index(below, size), index(below + 1, size), index(below + 2, size)),
    vec4f(outer.x, inner.x, inner.y, outer.y),
    lost,
  );
}

fn sample(first: u32, z: Axis, v: Axis, u: Axis) -> f32 {
  var sum = 0.0;
  for (var kz = 0u; kz < select(1u, TAPS, VOLUME); kz++) {
    var plane = 0.0;
    for (var kv = 0u; kv < TAPS; kv++) {
      var row = 0.0;
      for (var ku = 0u; ku < TAPS; ku++) {
        if (min(z.at[kz], min(v.at[kv], u.at[ku])) >= 0) {
          let i = (u32(z.at[kz]) * params.h + u32(v.at[kv])) * params.w + u32(u.at[ku]);
          row += u.weight[ku] * f32(x[first + i]);
        }
      }
      plane += v.weight[kv] * row;
    }
    sum += z.weight[kz] * plane;
  }
  return sum;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let thread = (id.y * groups.x + id.x) * WORKGROUP + local.x;
  if (thread >= params.threads) {
    return;
  }
  let position = thread % params.positions;
  let block = thread / params.positions % params.blocks;
  let n = thread / (params.positions * params.blocks);
  let at = params.grid_offset + (n * params.positions + position) * select(2u, 3u, VOLUME);
  let u = axis_of(f32(grid[at]), params.w);
  let v = axis_of(f32(grid[at + 1u]), params.h);
  var z = Axis(vec4i(0), vec4f(1.0), false);
  if (VOLUME) {
    z = axis_of(f32(grid[at + 2u]), params.d);
  }
  for (var c = block * CHANNELS; c < min(block * CHANNELS + CHANNELS, params.channels); c++) {
    let plane = n * params.channels + c;
    let first = params.x_offset + plane * params.d * params.h * params.w;
    y[params.y_offset + plane * params.positions + position] = T(select(sample(first, z, v, u), not_a_number(), u.lost || v.lost || z.lost));
  }
}
