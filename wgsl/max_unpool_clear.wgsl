// First step of max_unpool: nobody owns any place yet.
//
// owners: u32 for each place of the inferred shape. Thread: one of them.
// Bindings: owners, params.

const WORKGROUP: u32 = 64u;

struct Params {
  owners_offset: u32,
  places: u32,
}

@group(0) @binding(0) var<storage, read_write> owners: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let place = (id.y * groups.x + id.x) * WORKGROUP + local.x;
  if (place < params.places) {
    owners[params.owners_offset + place] = 0u;
  }
}
