// A unary function over the four lanes of a vector, for wgsl/unary.wgsl's region `lanes`.

fn each(v: X) -> X {
  return X(vec4<V>(unary(V(v.x)), unary(V(v.y)), unary(V(v.z)), unary(V(v.w))));
}
