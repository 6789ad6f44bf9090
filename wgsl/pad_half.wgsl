// The border of half elements, for wgsl/pad.wgsl's region `value`.

fn border() -> E {
  return unpack2x16(params.value_bits);
}

// The half in the low 16 bits.
fn unpack2x16(bits: u32) -> E {
  return bitcast<vec2<f16>>(bits).x;
}
