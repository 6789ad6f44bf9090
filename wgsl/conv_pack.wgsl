// Weights laid out once for the matrix product: its loads then run along the output channels.
//
// w: (M, C/group, taps). y: (group, C/group taps, M/group), the terms in the order (C/group, taps), or
// (taps, C/group) with BY_TAP. One thread moves one element.
// Bindings: w; y; params. Source: issue 3, constant weights.

alias T = f32;
const BY_TAP: bool = false;
const WORKGROUP: u32 = 64u;

struct Params {
  group: u32, c: u32, m: u32, taps: u32,  // channels of one group
  w_offset: u32,
}

@group(0) @binding(0) var<storage, read> w: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
  let terms = params.c * params.taps;
  let index = (id.y * groups.x + id.x) * WORKGROUP + thread;
  if (index >= params.group * params.m * terms) { return; }
  let m = index % params.m;
  let group = index / params.m / terms;
  var term = index / params.m % terms;
  if (BY_TAP) { term = term % params.c * params.taps + term / params.c; }
  y[index] = w[params.w_offset + (group * params.m + m) * terms + term];
}
