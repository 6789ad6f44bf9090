"""Runs a few ONNX nodes at once: what every function of `ops` comes down to.

Arrays in give arrays out, through a small session kept for the next call of the same kind.
As soon as one input is a Tensor, everything stays on its device and Tensors come out.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np

from ..device import Device, wait
from ..errors import DeviceError, DeviceLostError, FeedError, KernelShapeError, ModelError, UnsupportedError
from ..graph.compiled import Weights, check_arrays, read_checks, record_program
from ..graph.element_types import check_nodes
from ..graph.fusion import fuse
from ..graph.lowering import HostValueNeeded, Name, Value, storage
from ..graph.memory import roots
from ..graph.model import Array, Graph, Model, Node, ValueInfo
from ..graph.session import InferenceSession
from ..graph.specialise import Program, specialise
from ..plan import Operand, Recorder
from .tensor import Tensor, default_device, forget_default_device

Input: TypeAlias = "Array | Tensor | None"
Output: TypeAlias = Any  # an ndarray, or a Tensor where one went in

OPSET = 22
_SESSIONS_KEPT = 64


@dataclass(slots=True, eq=False)
class _Kept:
    """A session and the number of calls that are using it."""

    session: InferenceSession
    users: int = 0


_sessions: OrderedDict[tuple[object, ...], _Kept] = OrderedDict()
_sessions_lock = threading.RLock()

P = ParamSpec("P")
T = TypeVar("T")


def sync(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The waiting twin of an async operation; in a browser only where Pyodide can suspend (JSPI)."""

    @wraps(function)
    def waiting(*args: P.args, **kwargs: P.kwargs) -> T:
        return wait(function(*args, **kwargs))

    waiting.__name__ = f"{function.__name__}_sync"
    waiting.__doc__ = f"`{function.__name__}`, waiting; in a browser only where Pyodide can suspend (JSPI)."
    return waiting


async def run_nodes(nodes: Sequence[Node], inputs: Mapping[str, Input], outputs: Sequence[str]) -> list[Output]:
    """Run `nodes` on inputs by name; gives the named outputs.

    Raises: FeedError for inputs that are no arrays, UnsupportedError for types that the GPU lacks,
    KernelShapeError for shapes that do not go together, DeviceError for Tensors of several devices or
    destroyed ones. After a DeviceLostError the next call requests a new shared device.
    """
    op = nodes[0].op_type
    given = {name: _as_input(op, name, value) for name, value in inputs.items() if value is not None}
    tensors = {name: value for name, value in given.items() if isinstance(value, Tensor)}
    with _naming(op):
        if tensors:
            return await _run_tensors(nodes, given, outputs, _common_device(op, tensors))
        arrays = {name: value for name, value in given.items() if not isinstance(value, Tensor)}
        try:
            device = await default_device()
            with _session(nodes, arrays, outputs, device) as session:
                return list(await session.run(outputs, arrays))
        except DeviceLostError:
            forget_default_device()
            raise


@contextmanager
def _naming(op: str) -> Iterator[None]:
    """Errors about shapes and types say which operation they are about; no model file is to blame here."""
    try:
        yield
    except ModelError as error:
        raise KernelShapeError(str(error)) from error
    except (FeedError, KernelShapeError, UnsupportedError) as error:
        if op.lower() in str(error).lower():
            raise
        raise type(error)(f"{op}: {error}") from error


def _as_input(op: str, name: str, value: object) -> Array | Tensor:
    if isinstance(value, Tensor):
        if value.buffer.handle is None:
            raise DeviceError(f"{op}: {name} must be a live Tensor, got one that was destroyed")
        return value
    if not isinstance(value, (np.ndarray, np.generic)):
        raise FeedError(f"{op}: {name} must be a numpy array or a Tensor, got {type(value).__name__}")
    try:
        storage(str(value.dtype))
    except UnsupportedError as error:
        raise UnsupportedError(
            f"{op}: {name} must have a type that the GPU computes with, got {value.dtype}"
        ) from error
    return np.asarray(value)


def _common_device(op: str, tensors: Mapping[str, Tensor]) -> Device:
    """The device that all of them are on. Raises: DeviceError."""
    (first, tensor), *others = tensors.items()
    for name, other in others:
        if other.buffer.device is not tensor.buffer.device:
            raise DeviceError(f"{op}: {name} must be on the device of {first}, got a Tensor of another one")
    return tensor.buffer.device


@contextmanager
def _session(
    nodes: Sequence[Node], arrays: Mapping[str, Array], outputs: Sequence[str], device: Device
) -> Iterator[InferenceSession]:
    """A session of these nodes, made once for each kind of call. Beyond a number those that nobody uses are dropped."""
    with _sessions_lock:
        kept = _kept(nodes, arrays, outputs, device)
        kept.users += 1
    try:
        yield kept.session
    finally:
        with _sessions_lock:
            kept.users -= 1
            for key in [key for key, other in _sessions.items() if other.users == 0]:
                if len(_sessions) <= _SESSIONS_KEPT:
                    break
                _sessions.pop(key).session.destroy()


def _kept(nodes: Sequence[Node], arrays: Mapping[str, Array], outputs: Sequence[str], device: Device) -> _Kept:
    """The session for this kind of call, now the last used. Call it with the lock held."""
    kinds = tuple((name, str(array.dtype), array.ndim) for name, array in arrays.items())
    key = (id(device), kinds, tuple(outputs), tuple(map(_node_key, nodes)))
    if key in _sessions:
        _sessions.move_to_end(key)
        return _sessions[key]
    model = Model(10, {"": OPSET}, _graph(nodes, arrays, outputs), {}, "ops")
    return _sessions.setdefault(key, _Kept(InferenceSession(model, device, owns_device=False)))


def _node_key(node: Node) -> tuple[object, ...]:
    attributes = tuple(sorted((name, repr(value)) for name, value in node.attributes.items()))
    return (node.domain, node.op_type, node.inputs, node.outputs, attributes)


def _graph(nodes: Sequence[Node], inputs: Mapping[str, Array | Tensor], outputs: Sequence[str]) -> Graph:
    infos = tuple(ValueInfo(name, str(value.dtype), (None,) * len(value.shape)) for name, value in inputs.items())
    graph = Graph("ops", tuple(nodes), {}, infos, tuple(ValueInfo(name, None, None) for name in outputs))
    check_nodes(graph, OPSET)
    return graph


async def _run_tensors(
    nodes: Sequence[Node], given: Mapping[str, Array | Tensor], outputs: Sequence[str], device: Device
) -> list[Output]:
    tensors = {
        name: value if isinstance(value, Tensor) else await Tensor.from_numpy(value, device)
        for name, value in given.items()
    }
    host = {name: value for name, value in given.items() if not isinstance(value, Tensor)}
    program = _program(nodes, tensors, host, outputs)
    root = roots(program.steps)
    held: dict[Name, Tensor] = dict(tensors.items())
    results = [_result(device, program.values[name], held.get(root.get(name, name))) for name in outputs]
    recorder = Recorder(device.caps)
    operands: dict[Name, Operand] = {name: tensor.buffer for name, tensor in tensors.items()}
    operands |= {root.get(name, name): tensor.buffer for name, tensor in zip(outputs, results, strict=True)}
    read_checks(recorder, program, record_program(recorder, program, operands, Weights(device, {})))
    numbers = check_arrays(program.checks)
    loaded = await device.load(recorder.finish())
    try:
        await loaded.run([], [number.view(np.uint8) for number in numbers])
        for check, number in zip(program.checks, numbers, strict=True):
            check.hold(number.item())
    finally:
        loaded.destroy()
        for name in host:
            tensors[name].destroy()
    return results


def _program(
    nodes: Sequence[Node], tensors: Mapping[str, Tensor], host: Mapping[str, Array], outputs: Sequence[str]
) -> Program:
    """The program over tensors; arrays among the inputs are known to the host where a shape needs them."""
    graph = _graph(nodes, tensors, outputs)
    known: frozenset[str] = frozenset()
    while True:
        values = {
            name: Value(name, tensor.dtype, tensor.shape, host[name] if name in known else None)
            for name, tensor in tensors.items()
        }
        try:
            return fuse(specialise(graph, OPSET, values))
        except HostValueNeeded as needed:
            if needed.name not in host or needed.name in known:
                raise UnsupportedError(f"{needed}: give a numpy array, not a Tensor") from needed
            known |= {needed.name}


def _result(device: Device, value: Value, same: Tensor | None) -> Tensor:
    """A Tensor for an output; over the buffer of `same` where it holds the elements of that input."""
    if same is not None:
        return Tensor(same.buffer, value.dtype, value.shape)
    count = int(np.prod(value.shape, dtype=np.int64))
    return Tensor(device.create_buffer(count * value.stored.size_bytes, str(value.name)), value.dtype, value.shape)
