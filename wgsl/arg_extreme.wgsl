// y = the index of the largest (SMALLEST: smallest) element along one axis; a thread makes one.
//
// x: (before, size, behind), y: (before, behind) int32. Ties give the first index, or the last with
// LAST. The first (last) NaN counts as the extreme. Bindings: x, y, params.
// Source: problems/reduce.py, ArgProblem; ONNX ArgMax-13, ArgMin-13.

const SMALLEST: bool = false;
const LAST: bool = false;
const FLOATS: bool = true;
const WORKGROUP: u32 = 64u;
alias V = f32;  // compared in
alias T = f32;  // x's elements

struct Params {
  elements: u32,
  size: u32,
  behind: u32,
  x_offset: u32,
  y_offset: u32,
}

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<i32>;
@group(0) @binding(2) var<uniform> params: Params;

fn is_nan_bits(v: V) -> bool {
  return FLOATS && (bitcast<u32>(v) & 0x7fffffffu) > 0x7f800000u;
}

// Whether v, which comes behind best, takes its place.
fn beats(v: V, best: V) -> bool {
  if (is_nan_bits(best)) {
    return LAST && is_nan_bits(v);
  }
  if (is_nan_bits(v)) {
    return true;
  }
  return select(v > best, v < best, SMALLEST) || (LAST && v == best);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = (id.y * groups.x + id.x) * WORKGROUP + lane;
  if (i >= params.elements) {
    return;
  }
  let first = params.x_offset + i / params.behind * params.size * params.behind + i % params.behind;
  var best = V(x[first]);
  var found = 0u;
  for (var at = 1u; at < params.size; at++) {
    let v = V(x[first + at * params.behind]);
    if (beats(v, best)) {
      best = v;
      found = at;
    }
  }
  y[params.y_offset + i] = i32(found);
}
