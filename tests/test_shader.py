"""WGSL text: constants, aliases, regions and unrolled loops."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import pytest

from onegpu_web import assets, shader

FILE = """\
// A test.
const TILE: u32 = 4u;
const ROWS: u32 = TILE * 2u;
const SCALE: f32 = 1.0;
const DEEP: bool = false;
const LOW: i32 = -3i;
alias T = f32;
var<workgroup> tile: array<T, ROWS>;
var<workgroup> lanes: array<array<vec4<f32>, 3>, TILE>;
var<workgroup> flag: atomic<u32>;
//: region activation
fn activation(v: f32) -> f32 { return v; }
//: end
@compute @workgroup_size(TILE, ROWS)
fn main() {
  //: unroll
  for (var i = 0u; i < TILE; i++) {
    if (i > 0u) { tile[i] = T(f32(i) + x.i); }
  }
}
"""
ACTIVATION = "fn activation(v: f32) -> f32 { return max(v, 0.0); }\n"


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., shader.Shader]]:
    """`shader.build` over two files that exist in this test alone."""
    texts = {"a_test": FILE, "relu": ACTIVATION}
    monkeypatch.setattr(assets, "wgsl", texts.__getitem__)
    shader._build.cache_clear()
    yield lambda **changes: shader.build("a_test", **changes)
    shader._build.cache_clear()


def test_constants_are_set_and_derived_ones_follow(build: Callable[..., shader.Shader]) -> None:
    built = build(constants={"TILE": 2, "SCALE": 0.1, "DEEP": True, "LOW": -7})
    assert "const TILE: u32 = 2u;\nconst ROWS: u32 = TILE * 2u;" in built.text
    assert "const DEEP: bool = true;" in built.text
    assert "const LOW: i32 = -7i;" in built.text
    assert built.workgroup_size == (2, 4, 1)


def test_floats_are_exact(build: Callable[..., shader.Shader]) -> None:
    text = build(constants={"SCALE": 0.1}).text
    value = text.partition("const SCALE: f32 = ")[2].partition("f;")[0]
    assert float.fromhex(value) == struct.unpack("<f", struct.pack("<f", 0.1))[0]


@pytest.mark.parametrize(
    "changes", [{"constants": {"TILES": 2}}, {"aliases": {"U": "f16"}}, {"regions": {"epilogue": "relu"}}]
)
def test_what_the_file_does_not_declare_is_an_error(
    build: Callable[..., shader.Shader], changes: dict[str, dict[str, object]]
) -> None:
    with pytest.raises(KeyError, match=r"wgsl/a_test\.wgsl declares no (const TILES|alias U|region epilogue)"):
        build(**changes)


def test_a_half_alias_enables_f16_and_halves_its_memory(build: Callable[..., shader.Shader]) -> None:
    single, half = build(), build(aliases={"T": "f16"})
    assert half.text.startswith("enable f16;\n")
    assert "alias T = f16;" in half.text
    assert "enable" not in single.text
    assert (single.workgroup_bytes, half.workgroup_bytes) == (32 + 192 + 4, 16 + 192 + 4)


def test_a_region_is_replaced_by_the_file(build: Callable[..., shader.Shader]) -> None:
    built = build(regions={"activation": "relu"})
    assert ACTIVATION in built.text
    assert "return v;" not in built.text
    assert "return v;" in build().text


def test_marked_loops_are_written_out(build: Callable[..., shader.Shader]) -> None:
    text = build(constants={"TILE": 2}).text
    assert "for (" not in text
    assert "if (0u > 0u) { tile[0u] = T(f32(0u) + x.0u); }" in text
    assert "tile[1u]" in text
    assert "tile[2u]" not in text


def test_equal_builds_are_one_object(build: Callable[..., shader.Shader]) -> None:
    assert build(constants={"TILE": 2}) is build(constants={"TILE": 2})
    assert build(constants={"TILE": 2}) != build()


def test_nested_loops_and_steps_are_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """\
const N: u32 = 3u;
@compute @workgroup_size(1)
fn main() {
  //: unroll
  for (var i: u32 = 1u; i < N + 1u; i += 2u) {
    //: unroll
    for (var j = i; j < 2u * N; j += N) {
      y[i * N + j] = ij + f(i, j);
    }
  }
}
"""
    monkeypatch.setattr(assets, "wgsl", lambda name: text)
    shader._build.cache_clear()
    written = shader.build("nested").text
    shader._build.cache_clear()
    calls = [(1, 1), (1, 4), (3, 3)]
    assert written.count("ij + f(") == len(calls)
    for i, j in calls:
        assert f"y[{i}u * N + {j}u] = ij + f({i}u, {j}u);" in written
    assert written.count("{") == written.count("}")


def test_an_open_loop_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "wgsl", lambda name: "  //: unroll\n  for (var i = 0u; i < 2u; i++) {\n    f(i);\n")
    with pytest.raises(KeyError, match="no closing brace"):
        shader.build("open loop")
