// Single bytes, which lie four to a word, for the region `elements` of wgsl/copy.wgsl and wgsl/pad.wgsl.
//
// Threads that store into one word change bits of their own, so the order of the atomics is of no matter.

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<atomic<u32>>;

fn element_at(i: u32) -> u32 {
  return (x[i / 4u] >> (i % 4u * 8u)) & 0xffu;
}

fn put_element(i: u32, byte: u32) {
  let shift = i % 4u * 8u;
  atomicAnd(&y[i / 4u], ~(0xffu << shift));
  atomicOr(&y[i / 4u], byte << shift);
}
