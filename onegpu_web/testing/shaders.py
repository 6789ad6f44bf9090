"""The texts that show whether a file of wgsl/ compiles, for naga and for Tint."""

from __future__ import annotations

import re
from functools import lru_cache

from .. import assets, shader
from ..caps import Caps
from .cases import TABLES, table
from .runner import chosen_variants

_REGION = re.compile(r"^//: region (?P<name>\w+)\n(?P<stand_in>.*?)^//: end\n", re.M | re.S)
_FUNCTION = re.compile(r"^fn (\w+)\(", re.M)


def names() -> list[str]:
    """The files of wgsl/, without their endings."""
    return sorted(path.stem for path in assets.folder("wgsl").glob("*.wgsl"))


def candidates(name: str) -> list[str]:
    """The texts of which one at least must compile for wgsl/NAME.wgsl to be right.

    A file with an entry point stands for itself. One that takes the place of regions may use names and
    types of the file around it, so it is tried alone, in each file that has a region with the same
    functions, and in a few shaders of the case tables that contain it.
    """
    text = assets.wgsl(name)
    if "@compute" in text:
        return [text]
    functions = set(_FUNCTION.findall(text))
    hosts = [
        shader.build(host, regions={region["name"]: name}).text
        for host in names()
        for region in _REGION.finditer(assets.wgsl(host))
        if functions >= set(_FUNCTION.findall(region["stand_in"]))
    ]
    return [text, *hosts[:4], *_lowered_with(text)[:4]]


def _lowered_with(text: str) -> list[str]:
    lines = {line for line in text.splitlines() if line and not line.startswith(("//", "const ", "alias "))}
    for features in (frozenset[str](), frozenset({"shader-f16"})):
        hosts = [lowered for lowered in lowered_texts(features) if lines <= set(lowered.splitlines())]
        if hosts:
            return hosts
    return []


@lru_cache(maxsize=2)
def lowered_texts(features: frozenset[str]) -> tuple[str, ...]:
    """The distinct shader texts that the variants of all case tables make on the default limits."""
    caps, texts = Caps(features=features), dict[str, None]()
    for name in TABLES:
        module = table(name)
        for case in module.CASES:
            for chosen in chosen_variants(module.FAMILY, case, caps):
                variant = module.FAMILY.choose(case.problem, caps, chosen)
                for launch in variant.lower(case.problem, caps).launches:
                    texts[launch.shader.text] = None
    return tuple(texts)
