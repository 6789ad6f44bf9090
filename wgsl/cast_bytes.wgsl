// An element of x whose bytes lie four to a word, for wgsl/cast.wgsl's region `load`.

const SIGNED: bool = false;

fn load(i: u32) -> V {
  let byte = (x[i / 4u] >> (8u * (i % 4u))) & 0xffu;
  if (SIGNED) {
    return V(i32(byte << 24u) >> 24u);
  }
  return V(byte);
}
