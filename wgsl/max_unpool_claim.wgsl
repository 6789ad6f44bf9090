// Second step of max_unpool: every element of x claims the place its index names; the last claimant keeps it.
//
// indices: i32 for each element. owners: for each place 1 + the element that owns it. Thread: one element.
// The greatest of some integers is the same in any order, so this atomic leaves no trace of timing.
// Bindings: indices, owners, params. Source: ONNX MaxUnpool-22.

const WORKGROUP: u32 = 64u;

struct Params {
  indices_offset: u32,
  owners_offset: u32,
  elements: u32,
  places: u32,
}

@group(0) @binding(0) var<storage, read> indices: array<i32>;
@group(0) @binding(1) var<storage, read_write> owners: array<atomic<u32>>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let element = (id.y * groups.x + id.x) * WORKGROUP + local.x;
  if (element >= params.elements) {
    return;
  }
  let place = indices[params.indices_offset + element];
  if (place >= 0 && u32(place) < params.places) {
    atomicMax(&owners[params.owners_offset + u32(place)], element + 1u);
  }
}
