// Average and Lp pooling of whole planes: LANES threads sum a row each, then a fixed halving tree joins them.
//
// x: rows of elements (IN), y: (rows) of OUT. A row is a plane, or one of the `chunks` parts of a plane:
// then the first stage writes partial sums and a second stage takes those of a plane as its row.
// A lane sums blocks of 64 elements and then the blocks, so long rows lose no accuracy.
// Thread: lane `local % LANES` of row `group * ROWS + local / LANES`.
// Region norm: pool_norm.wgsl. Bindings: x, y, params. Source: ONNX GlobalAveragePool-22, GlobalLpPool-22.

alias IN = f32;
alias OUT = f32;
const FIRST: bool = true;   // x holds elements, not partial sums
const LAST: bool = true;    // y takes results, not partial sums
const LANES: u32 = 64u;     // a power of two
const WORKGROUP: u32 = 256u;
const ROWS: u32 = WORKGROUP / LANES;
const BLOCK: u32 = 64u;
const AT_ONCE: u32 = 4u;    // loads under way together

struct Params {
  x_offset: u32,
  y_offset: u32,
  rows: u32,
  plane: u32,   // elements of a plane, or partial sums of one
  chunks: u32,  // rows that share a plane
  chunk: u32,   // elements of a row; the last one of a plane may have fewer
  count: u32,   // elements to divide by
  p: f32,
}

@group(0) @binding(0) var<storage, read> x: array<IN>;
@group(0) @binding(1) var<storage, read_write> y: array<OUT>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> sums: array<f32, WORKGROUP>;

//: region norm
fn term(v: f32, p: f32) -> f32 { return v; }
fn finish(sum: f32, count: u32, p: f32) -> f32 { return sum / f32(count); }
//: end

fn lane_sum(row: u32, lane: u32) -> f32 {
  let begin = row % params.chunks * params.chunk;
  let end = min(begin + params.chunk, params.plane);
  let first = params.x_offset + row / params.chunks * params.plane;
  var sum = 0.0;
  for (var block = begin + lane; block < end; block += LANES * BLOCK) {
    var block_sum = 0.0;
    for (var i = block; i < min(block + LANES * BLOCK, end); i += LANES * AT_ONCE) {
      //: unroll
      for (var k = 0u; k < AT_ONCE; k++) {
        if (i + k * LANES < end) {
          let v = f32(x[first + i + k * LANES]);
          if (FIRST) {
            block_sum += term(v, params.p);
          } else {
            block_sum += v;
          }
        }
      }
    }
    sum += block_sum;
  }
  return sum;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let row = (id.y * groups.x + id.x) * ROWS + local / LANES;
  let lane = local % LANES;
  sums[local] = 0.0;
  if (row < params.rows) {
    sums[local] = lane_sum(row, lane);
  }
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      sums[local] += sums[local + half];
    }
  }
  if (lane == 0u && row < params.rows) {
    if (LAST) {
      y[params.y_offset + row] = OUT(finish(sums[local], params.count, params.p));
    } else {
      y[params.y_offset + row] = OUT(sums[local]);
    }
  }
}
