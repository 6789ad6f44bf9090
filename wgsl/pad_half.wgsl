// The border of half elements, for wgsl/pad.wgsl's region `value`: the half in the low 16 bits.

fn border() -> E {
  return E(unpack2x16float(params.value_bits).x);  // naga has no bitcast to vec2<f16>
}
