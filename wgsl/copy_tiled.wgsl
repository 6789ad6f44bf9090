// Batches of matrices transposed, bit for bit: y[b, r, c] = x[b, c, r].
//
// x's rows run along r and y's along c, both contiguous; their other strides are free. A workgroup
// moves a TILE x TILE tile through workgroup memory, so that it reads and writes whole lines; each
// thread moves TILE / ROWS elements. The row of one spare element keeps the columns of the tile in
// different banks. Workgroups count tiles along c, then along r, then batches.
// Bindings: x, y, params. Source: problems/movement.py, CopyProblem.

const TILE: u32 = 32u;
const ROWS: u32 = 8u;
const CELLS: u32 = TILE * (TILE + 1u);
alias E = u32;

struct Params {
  batches: u32,
  rows: u32,
  columns: u32,
  x_batch_stride: u32,
  x_column_stride: u32,
  y_batch_stride: u32,
  y_row_stride: u32,
  x_offset: u32,
  y_offset: u32,
}

@group(0) @binding(0) var<storage, read> x: array<E>;
@group(0) @binding(1) var<storage, read_write> y: array<E>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> cells: array<E, CELLS>;

@compute @workgroup_size(TILE, ROWS)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let across = (params.columns + TILE - 1u) / TILE;
  let down = (params.rows + TILE - 1u) / TILE;
  let tile = id.y * groups.x + id.x;
  let batch = tile / (across * down);
  let first_column = tile % across * TILE;
  let first_row = tile / across % down * TILE;
  let inside = batch < params.batches;
  let x_first = params.x_offset + batch * params.x_batch_stride;
  let y_first = params.y_offset + batch * params.y_batch_stride;
  for (var step = lane.y; step < TILE; step += ROWS) {
    let row = first_row + lane.x;
    let column = first_column + step;
    if (inside && row < params.rows && column < params.columns) {
      cells[step * (TILE + 1u) + lane.x] = x[x_first + column * params.x_column_stride + row];
    }
  }
  workgroupBarrier();
  for (var step = lane.y; step < TILE; step += ROWS) {
    let row = first_row + step;
    let column = first_column + lane.x;
    if (inside && row < params.rows && column < params.columns) {
      y[y_first + row * params.y_row_stride + column] = cells[lane.x * (TILE + 1u) + step];
    }
  }
}
