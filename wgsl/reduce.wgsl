// y = a reduction of x over some of its axes; a thread makes one element of y.
//
// x is walked along the axes that stay (`kept`, `kept_strides`, the last one fastest) and along
// those that go (`gone`, `gone_strides`), at most 8 each. Parts of BLOCK elements are joined
// first, so that long sums stay exact enough. Bindings: x, y, params.
// Source: problems/reduce.py, ReduceProblem.

const BLOCK: u32 = 64u;
const WORKGROUP: u32 = 64u;
alias V = f32;  // computed in
alias T = f32;  // x's and y's elements

struct Params {
  kept: array<vec4<u32>, 2>,
  kept_strides: array<vec4<u32>, 2>,
  gone: array<vec4<u32>, 2>,
  gone_strides: array<vec4<u32>, 2>,
  elements: u32,
  kept_rank: u32,
  count: u32,
  gone_rank: u32,
  x_offset: u32,
  y_offset: u32,
}

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> params: Params;

//: region function
fn initial() -> V {
  return V(0);
}
fn take(v: V) -> V {
  return v;
}
fn join(a: V, b: V) -> V {
  return a + b;
}
fn finish(total: V, count: u32) -> V {
  return total;
}
//: end

fn kept_index(i: u32) -> u32 {
  var rest = i;
  var index = params.x_offset;
  for (var axis = params.kept_rank; axis > 0u; axis--) {
    let part = (axis - 1u) / 4u;
    let slot = (axis - 1u) % 4u;
    index += rest % params.kept[part][slot] * params.kept_strides[part][slot];
    rest /= params.kept[part][slot];
  }
  return index;
}

fn gone_index(i: u32) -> u32 {
  var rest = i;
  var index = 0u;
  for (var axis = params.gone_rank; axis > 0u; axis--) {
    let part = (axis - 1u) / 4u;
    let slot = (axis - 1u) % 4u;
    index += rest % params.gone[part][slot] * params.gone_strides[part][slot];
    rest /= params.gone[part][slot];
  }
  return index;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = (id.y * groups.x + id.x) * WORKGROUP + lane;
  if (i >= params.elements) {
    return;
  }
  let first = kept_index(i);
  var total = initial();
  for (var block = 0u; block < params.count; block += BLOCK) {
    var part = initial();
    for (var at = block; at < min(block + BLOCK, params.count); at++) {
      part = join(part, take(V(x[first + gone_index(at)])));
    }
    total = join(total, part);
  }
  y[params.y_offset + i] = T(finish(total, params.count));
}
