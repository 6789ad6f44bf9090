"""WGSL text: a file of wgsl/ with its constants, aliases and regions set and its marked loops unrolled.

The files are valid WGSL as they lie there. `build` makes the final text from one:

- `const TILE_M: u32 = 64u;` gets another value, `alias T = f32;` another type; naming one that the
  file does not declare is an error.
- `//: region activation` ... `//: end` is replaced by a shared file's text (`regions`); the file
  itself holds a stand-in there so that it compiles alone.
- `//: unroll` before a `for (var i = 0u; i < TM; i++) {` writes the loop out, index literal by index
  literal. wgpu's naga guards loops so that drivers keep indexed private arrays in memory: 16 times
  slower on an H200 (DESIGN, 2026).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from . import assets

Constant = bool | int | float
T = TypeVar("T")

_CONST = re.compile(r"^(?P<head>const (?P<name>[A-Z][A-Z0-9_]*): (?P<type>u32|i32|f32|bool) = )(?P<value>[^;]+);", re.M)
_ALIAS = re.compile(r"^alias (?P<name>\w+) = (?P<type>[^;]+);", re.M)
_REGION = re.compile(r"^//: region (?P<name>\w+)\n.*?^//: end\n", re.M | re.S)
_UNROLL = re.compile(
    r"^[ ]*//: unroll\n[ ]*for \(var (?P<i>\w+)(?:: u32)? = (?P<start>[^;]+); (?P=i) < (?P<stop>[^;]+); "
    r"(?P=i)(?:\+\+| \+= (?P<step>[^)]+))\) \{\n",
    re.M,
)
_WORKGROUP_VAR = re.compile(r"^var<workgroup> \w+: (?P<type>[^;]+);", re.M)
_WORKGROUP_SIZE = re.compile(r"@workgroup_size\((?P<sizes>[^)]*)\)")
_SCALAR_BYTES = {"f32": 4, "u32": 4, "i32": 4, "f16": 2}
_SAFE_EXPRESSION = re.compile(r"[0-9A-Fa-fx()+\-*/% <>=.]+")


@dataclass(frozen=True, slots=True)
class Shader:
    """A final WGSL text with entry point `main`.

    workgroup_size: threads along x, y, z. workgroup_bytes: of workgroup memory.
    """

    name: str
    text: str
    workgroup_size: tuple[int, int, int]
    workgroup_bytes: int


def build(
    name: str,
    *,
    constants: Mapping[str, Constant] | None = None,
    aliases: Mapping[str, str] | None = None,
    regions: Mapping[str, str] | None = None,
) -> Shader:
    """The shader of wgsl/NAME.wgsl.

    constants: new values by name. aliases: new types by name. regions: region name -> file of wgsl/
    that takes its place. `enable f16;` is put first where an alias became a half type.
    Raises: KeyError for a constant, alias or region that the text does not declare.
    """
    return _build(name, _frozen(constants), _frozen(aliases), _frozen(regions))


def _frozen(items: Mapping[str, T] | None) -> tuple[tuple[str, T], ...]:
    return tuple(sorted((items or {}).items(), key=lambda item: item[0]))


@lru_cache(maxsize=4096)
def _build(
    name: str,
    constants: tuple[tuple[str, Constant], ...],
    aliases: tuple[tuple[str, str], ...],
    regions: tuple[tuple[str, str], ...],
) -> Shader:
    text = assets.wgsl(name)
    text = _replace_regions(name, text, dict(regions))
    text = _replace_aliases(name, text, dict(aliases))
    text = _replace_constants(name, text, dict(constants))
    values = constant_values(text)
    text = _unroll(text, values)
    if any("f16" in target for _, target in aliases):
        text = "enable f16;\n" + text
    return Shader(name, text, _workgroup_size(name, text, values), _workgroup_bytes(text, values))


def _replace_regions(name: str, text: str, regions: dict[str, str]) -> str:
    def put(match: re.Match[str]) -> str:
        other = regions.pop(match["name"], None)
        return match[0] if other is None else assets.wgsl(other)

    text = _REGION.sub(put, text)
    _all_used(name, "region", regions)
    return text


def _replace_aliases(name: str, text: str, aliases: dict[str, str]) -> str:
    def put(match: re.Match[str]) -> str:
        return f"alias {match['name']} = {aliases.pop(match['name'], match['type'])};"

    text = _ALIAS.sub(put, text)
    _all_used(name, "alias", aliases)
    return text


def _replace_constants(name: str, text: str, constants: dict[str, Constant]) -> str:
    def put(match: re.Match[str]) -> str:
        if match["name"] not in constants:
            return match[0]
        return match["head"] + literal(constants.pop(match["name"]), match["type"]) + ";"

    text = _CONST.sub(put, text)
    _all_used(name, "const", constants)
    return text


def _all_used(name: str, kind: str, left: Mapping[str, object]) -> None:
    if left:
        raise KeyError(f"wgsl/{name}.wgsl declares no {kind} {', '.join(sorted(left))}")


def literal(value: Constant, wgsl_type: str) -> str:
    """`value` as a WGSL literal of `wgsl_type` (u32, i32, f32, bool)."""
    if wgsl_type == "bool":
        return "true" if value else "false"
    if wgsl_type == "u32":
        return f"{int(value)}u"
    if wgsl_type == "i32":
        return f"{int(value)}i"
    single = struct.unpack("<f", struct.pack("<f", value))[0]
    return f"{single.hex()}f"  # exact: Tint refuses decimals that round beyond the largest float


def constant_values(text: str) -> dict[str, int]:
    """The integer constants that `text` declares, by name, expressions of earlier ones evaluated."""
    values: dict[str, int] = {}
    for match in _CONST.finditer(text):
        if match["type"] in ("u32", "i32"):
            values[match["name"]] = _evaluate(match["value"], values)
    return values


def _evaluate(expression: str, values: Mapping[str, int]) -> int:
    text = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[ui]\b", r"\1", expression)
    text = re.sub(r"\b[A-Z][A-Z0-9_]*\b", lambda m: str(values[m[0]]), text).replace("/", "//")
    if not _SAFE_EXPRESSION.fullmatch(text):
        raise KeyError(f"not a constant expression: {expression}")
    return int(eval(text, {"__builtins__": {}}))  # digits and operators only, from our own files


def _unroll(text: str, values: Mapping[str, int]) -> str:
    while match := _UNROLL.search(text):
        end = _closing_brace(text, match.end())
        body = text[match.end() : end]
        start, stop = _evaluate(match["start"], values), _evaluate(match["stop"], values)
        step = _evaluate(match["step"], values) if match["step"] else 1
        index = re.compile(rf"\b{match['i']}\b")
        copies = "".join("{\n" + index.sub(f"{i}u", body) + "}\n" for i in range(start, stop, step))
        text = text[: match.start()] + copies + text[end + 1 :].lstrip("\n")
    return text


def _closing_brace(text: str, position: int) -> int:
    """Where the brace that is open at `position` closes."""
    depth = 1
    for brace in re.compile(r"[{}]").finditer(text, position):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    raise KeyError("an unrolled loop has no closing brace")


def _workgroup_size(name: str, text: str, values: Mapping[str, int]) -> tuple[int, int, int]:
    match = _WORKGROUP_SIZE.search(text)
    if match is None:  # a shared file without an entry point
        return (0, 0, 0)
    sizes = [_evaluate(part.strip(), values) for part in match["sizes"].split(",") if part.strip()]
    sizes += [1] * (3 - len(sizes))
    return (sizes[0], sizes[1], sizes[2])


def _workgroup_bytes(text: str, values: Mapping[str, int]) -> int:
    aliases = {m["name"]: m["type"].strip() for m in _ALIAS.finditer(text)}
    return sum(_type_bytes(m["type"].strip(), aliases, values) for m in _WORKGROUP_VAR.finditer(text))


def _type_bytes(wgsl_type: str, aliases: Mapping[str, str], values: Mapping[str, int]) -> int:
    wgsl_type = aliases.get(wgsl_type, wgsl_type)
    if array := re.fullmatch(r"array<(.+), *([^,<>]+)>", wgsl_type):
        return _type_bytes(array[1].strip(), aliases, values) * _evaluate(array[2], values)
    if vector := re.fullmatch(r"vec([234])(?:<(\w+)>|([fuih]))", wgsl_type):
        element = vector[2] or {"f": "f32", "u": "u32", "i": "i32", "h": "f16"}[vector[3]]
        lanes = 4 if vector[1] == "3" else int(vector[1])
        return lanes * _type_bytes(element, aliases, values)
    if atomic := re.fullmatch(r"atomic<(\w+)>", wgsl_type):
        return _type_bytes(atomic[1], aliases, values)
    return _SCALAR_BYTES[wgsl_type]
