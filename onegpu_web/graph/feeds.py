"""The types of a session's inputs: what the model declares against what is fed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import FeedError
from .lowering import Value
from .model import Array, Dim, ValueInfo


@dataclass(frozen=True, slots=True)
class NodeArg:
    """A model's input or output, in onnxruntime's words.

    shape: sizes, names of free dimensions, or None for one without a name. type: `tensor(float)` ...
    """

    name: str
    shape: list[Dim]
    type: str


_ORT_NAMES = {"float32": "float", "float64": "double"}


def node_arg(info: ValueInfo) -> NodeArg:
    """How callers see a declared value."""
    dtype = info.dtype or "float32"
    return NodeArg(info.name, list(info.shape or ()), f"tensor({_ORT_NAMES.get(dtype, dtype)})")


def check_output_names(names: Sequence[str], asked: Sequence[str] | None) -> list[str]:
    """The outputs asked for, all `names` for None. Raises: FeedError that names every unknown one."""
    if asked is None:
        return list(names)
    if isinstance(asked, str) or not isinstance(asked, Iterable):
        raise FeedError(f"run: output_names must be a list of names or None, got {asked!r}")
    chosen = list(asked)
    unknown = [str(name) for name in chosen if name not in names]
    if unknown:
        raise FeedError(f"run: output_names must be of {', '.join(names)}, got {', '.join(unknown)}")
    return chosen


def check_feeds(infos: Sequence[ValueInfo], feeds: Mapping[str, object]) -> dict[str, Array]:
    """The arrays fed, by input name, each of the declared dtype and a shape that fits the declared one.

    Raises: FeedError that names every missing and unknown input, or the first that does not fit.
    """
    if not isinstance(feeds, Mapping):
        raise FeedError(f"run: feeds must be a mapping from input names to arrays, got {type(feeds).__name__}")
    declared = {info.name for info in infos}
    missing, unknown = declared - set(feeds), set(map(str, feeds)) - declared
    if missing or unknown:
        raise FeedError(
            f"run: feeds must be {', '.join(sorted(declared)) or 'none'}; "
            f"missing {', '.join(sorted(missing)) or 'none'}, unknown {', '.join(sorted(unknown)) or 'none'}"
            + _meant(missing, unknown)
        )
    sizes: dict[str, int] = {}
    return {info.name: _check(info, feeds[info.name], sizes) for info in infos}


def _check(info: ValueInfo, fed: object, sizes: dict[str, int]) -> Array:
    if not isinstance(fed, (np.ndarray, np.generic)):
        raise FeedError(
            f"run: {info.name} must be a numpy array, got {type(fed).__name__}: "
            "np.asarray makes one of lists and pictures"
        )
    array = np.asarray(fed)
    if info.dtype is not None and str(array.dtype) != info.dtype:
        mend = f": {info.name}.astype(np.{info.dtype})" if array.dtype.kind in "fiu" and info.dtype[0] in "fiu" else ""
        raise FeedError(f"run: {info.name} must be {info.dtype}, got {array.dtype}{mend}")
    if info.shape is None:
        return array
    fits = len(array.shape) == len(info.shape)
    for asked, size in zip(info.shape, array.shape, strict=False):
        fixed = sizes.setdefault(asked, size) if isinstance(asked, str) else asked
        fits = fits and (fixed is None or fixed == size)
    if not fits:
        known = {name: size for name, size in sizes.items() if name in info.shape}
        raise FeedError(
            f"run: {info.name} must have shape {_spell(info.shape)}, got {array.shape} (with {known})"
            + _mend(info, array.shape)
        )
    return array


def _meant(missing: set[str], unknown: set[str]) -> str:
    """The names that are nearly those that are missing."""
    from difflib import get_close_matches

    near = {name: get_close_matches(name, missing, 1) for name in sorted(unknown)}
    return "".join(f"; did you mean {found[0]} by {name}?" for name, found in near.items() if found)


def _mend(info: ValueInfo, shape: tuple[int, ...]) -> str:
    """What makes an array of this shape one that fits, where a batch is missing or channels come last."""
    declared = info.shape or ()

    def fits(made: tuple[int, ...]) -> bool:
        pairs = zip(declared, made, strict=False)
        return len(declared) == len(made) and all(not isinstance(dim, int) or dim == size for dim, size in pairs)

    if fits((1, *shape)):
        return f": {info.name}[None] adds a batch of one"
    if len(shape) == 4 and fits((shape[0], shape[3], shape[1], shape[2])):
        return f": {info.name}.transpose(0, 3, 1, 2) makes NCHW of NHWC"
    if len(shape) == 3 and fits((1, shape[2], shape[0], shape[1])):
        return f": {info.name}[None].transpose(0, 3, 1, 2) makes NCHW of HWC"
    return ""


def _spell(shape: Sequence[Dim]) -> str:
    return "(" + ", ".join("?" if dim is None else str(dim) for dim in shape) + ")"


def input_values(infos: Sequence[ValueInfo], arrays: Mapping[str, Array], host: frozenset[str]) -> dict[str, Value]:
    """The inputs' types for specialisation; those in `host` with their arrays."""
    return {
        info.name: Value(
            info.name,
            str(arrays[info.name].dtype),
            arrays[info.name].shape,
            arrays[info.name] if info.name in host else None,
        )
        for info in infos
    }


def cache_key(arrays: Mapping[str, Array], host: frozenset[str]) -> tuple[object, ...]:
    """What a plan depends on: shapes and dtypes, and the values of the inputs in `host`."""
    return tuple(
        (name, array.shape, str(array.dtype), array.tobytes() if name in host else b"")
        for name, array in sorted(arrays.items())
    )
