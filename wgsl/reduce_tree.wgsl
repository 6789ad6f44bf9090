// y = a reduction of x over some of its axes; a workgroup makes one element of y, or a chunk of it.
//
// As wgsl/reduce.wgsl, but the elements of one reduction are dealt to the threads in turn, and the
// threads' parts joined by a fixed halving tree. Long reductions are cut into `chunks` of `length`
// elements, each of which makes one part; a second launch (TAKE false) joins the parts.
// Workgroups count chunks, then elements of y. Bindings: x, y, params.
// Source: problems/reduce.py, ReduceProblem.

const TAKE: bool = true;    // elements are x's own, not parts of an earlier launch
const FINISH: bool = true;  // parts are whole reductions
const WORKGROUP: u32 = 256u;
alias V = f32;  // computed in
alias X = f32;
alias Y = f32;

struct Params {
  kept: array<vec4<u32>, 2>,
  kept_strides: array<vec4<u32>, 2>,
  gone: array<vec4<u32>, 2>,
  gone_strides: array<vec4<u32>, 2>,
  elements: u32,
  kept_rank: u32,
  count: u32,
  gone_rank: u32,
  chunks: u32,
  length: u32,
  x_offset: u32,
  y_offset: u32,
  total_count: u32,
}

@group(0) @binding(0) var<storage, read> x: array<X>;
@group(0) @binding(1) var<storage, read_write> y: array<Y>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> parts: array<V, WORKGROUP>;

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
  let group = id.y * groups.x + id.x;
  let inside = group < params.elements * params.chunks;
  let first = kept_index(group / params.chunks);
  let begin = group % params.chunks * params.length;
  let end = select(0u, min(begin + params.length, params.count), inside);
  var part = initial();
  for (var at = begin + lane; at < end; at += WORKGROUP) {
    let v = V(x[first + gone_index(at)]);
    if (TAKE) {
      part = join(part, take(v));
    } else {
      part = join(part, v);
    }
  }
  parts[lane] = part;
  for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      parts[lane] = join(parts[lane], parts[lane + half]);
    }
  }
  if (lane == 0u && inside) {
    var total = parts[0];
    if (FINISH) {
      total = finish(total, params.total_count);
    }
    y[params.y_offset + group] = Y(total);
  }
}
