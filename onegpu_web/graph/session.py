"""InferenceSession: an ONNX model on a device, in the shape of onnxruntime's."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np

from ..device import Device, request_device, wait
from ..errors import DeviceError, ModelError, UnsupportedError, host_memory
from .compiled import Compiled, Weights, compile_program
from .feeds import NodeArg, cache_key, check_feeds, check_output_names, input_values, node_arg
from .fusion import fuse
from .lowering import HostValueNeeded, Value
from .missing import find_missing, find_wide
from .model import Array, Model
from .passes import simplify
from .reader import read_model
from .source import Progress, Source, read_source
from .specialise import Program, host_inputs, specialise

_PLANS_KEPT = 24
_DESTROYED_MEANWHILE = "run: the session was destroyed while it ran"


class InferenceSession:
    """An ONNX model ready to run. Made by `await InferenceSession.create(...)` or `create_sync`.

    A plan is compiled for each set of input shapes that comes and kept, the last 24 of them; the
    weights are on the GPU once. Threads may share a session.
    """

    def __init__(
        self, model: Model, device: Device | None = None, owns_device: bool = False, **options: object
    ) -> None:
        if not isinstance(model, Model) or device is None or options:
            raise ModelError(
                "InferenceSession: a session must be made by `await InferenceSession.create(source)` or "
                f"`InferenceSession.create_sync(source)`, got InferenceSession({model!r:.60})"
            )
        self.device = device
        self.metadata: Mapping[str, str] = dict(model.metadata)
        self.gpu_ms: float | None = None
        """GPU time of the last run, None where the device has no timestamp-query."""
        self._owns_device = owns_device
        self._opset = model.opset
        _refuse(find_missing(model.graph, model.opset))
        self._graph = simplify(model.graph, model.opset)
        _refuse(find_wide(self._graph))
        self._weights = Weights(device, self._graph.initializers)
        self._host: frozenset[str] = frozenset()
        self._plans: OrderedDict[tuple[object, ...], Compiled] = OrderedDict()
        self._alive = True
        self._lock = threading.RLock()

    @classmethod
    async def create(
        cls, source: Source, *, device: Device | None = None, progress: Progress | None = None
    ) -> InferenceSession:
        """Read a model and make it ready.

        source: a path, a URL (http, https, or in a page relative to it) or the file's bytes.
        device: one to share; without it the session requests its own. progress: called with
        (stage, done, total): stage `model` in bytes, then `pipelines`; total is None where unknown.
        With fixed input shapes everything is compiled here, otherwise at the first run of each shape.
        Raises: ModelError for a malformed file, UnsupportedError with every missing operator,
        DeviceError without a GPU.
        """
        if device is not None and not isinstance(device, Device):
            raise DeviceError(f"create: device must be a Device or None, got {type(device).__name__}")
        with host_memory("create"):
            data, folder = await read_source(source, progress)
            model = read_model(data, folder=folder)
            owned = device is None
            session = cls(model, await request_device() if device is None else device, owned)
            try:
                await session._compile_fixed(progress)
            except BaseException:
                session.destroy()
                raise
            return session

    @classmethod
    def create_sync(
        cls, source: Source, *, device: Device | None = None, progress: Progress | None = None
    ) -> InferenceSession:
        """`create`, waiting; in a browser only where Pyodide can suspend (JSPI)."""
        return wait(cls.create(source, device=device, progress=progress))

    def get_inputs(self) -> list[NodeArg]:
        """The arrays that `run` must be fed, initializers not counted."""
        return [node_arg(info) for info in self._graph.inputs]

    def get_outputs(self) -> list[NodeArg]:
        """The arrays that `run` gives."""
        return [node_arg(info) for info in self._graph.outputs]

    async def run(self, output_names: Sequence[str] | None, feeds: Mapping[str, object]) -> list[Array]:
        """Outputs for `feeds`, in the order of output_names (None: all, in the model's order).

        feeds: input name -> array of the declared dtype and shape.
        Raises: FeedError for wrong feeds, UnsupportedError or KernelShapeError for shapes that the
        model cannot take, DeviceError, DeviceLostError. The session stays usable after any of them
        but the last.
        """
        if not self._alive:
            raise DeviceError("run: the session was destroyed")
        names = [info.name for info in self._graph.outputs]
        chosen = check_output_names(names, output_names)
        with host_memory("run"):
            arrays = check_feeds(self._graph.inputs, feeds)
            compiled = await self._take(arrays)
            try:
                results = await compiled.run(arrays)
            finally:
                with self._lock:
                    compiled.users -= 1
        outputs = dict(zip(names, results, strict=True))
        self.gpu_ms = compiled.loaded.gpu_ms
        return [outputs[name] for name in chosen]

    def run_sync(self, output_names: Sequence[str] | None, feeds: Mapping[str, object]) -> list[Array]:
        """`run`, waiting; in a browser only where Pyodide can suspend (JSPI)."""
        return wait(self.run(output_names, feeds))

    def destroy(self) -> None:
        """Free the GPU memory, and the device where the session made it. Destroying twice is harmless."""
        with self._lock:
            self._alive = False
            for compiled in self._plans.values():
                compiled.loaded.destroy()
            self._plans.clear()
            self._weights.destroy()
            if self._owns_device:
                self._owns_device = False
                self.device.destroy()

    async def _compile_fixed(self, progress: Progress | None) -> None:
        """Compile now where every input has a fixed shape and no input decides a shape."""
        shapes = {info.name: info.shape for info in self._graph.inputs}
        dims = [dim for shape in shapes.values() for dim in (shape or (None,))]
        if not all(isinstance(dim, int) for dim in dims):
            return
        if progress is not None:
            progress("pipelines", 0, 1)
        arrays = {
            info.name: np.broadcast_to(np.zeros((), info.dtype or "float32"), tuple(map(int, info.shape or ())))  # type: ignore[arg-type]
            for info in self._graph.inputs
        }
        try:
            program, values = self._specialise(arrays, frozenset())
        except HostValueNeeded:
            return
        self._plans[cache_key(arrays, self._host)] = await compile_program(
            self.device, program, list(values.values()), self._weights
        )
        if progress is not None:
            progress("pipelines", 1, 1)

    async def _take(self, arrays: Mapping[str, Array]) -> Compiled:
        """The plan for these inputs, counted as in use before another thread can drop it."""
        with self._lock:
            if not self._alive:
                raise DeviceError(_DESTROYED_MEANWHILE)
            compiled = await self._compiled(arrays)
            compiled.users += 1
            return compiled

    async def _compiled(self, arrays: Mapping[str, Array]) -> Compiled:
        """The plan for these inputs, the least recently used one dropped where there are too many."""
        key = cache_key(arrays, self._host)
        if key in self._plans:
            self._plans.move_to_end(key)
            return self._plans[key]
        program, values = self._program(arrays)
        try:
            compiled = await compile_program(self.device, program, list(values.values()), self._weights)
        except DeviceError as error:
            if not self._alive:  # its buffers went while the plan was made of them
                raise DeviceError(_DESTROYED_MEANWHILE) from error
            raise
        key = cache_key(arrays, self._host)
        if not self._alive or key in self._plans:  # destroyed meanwhile, or another run was first
            compiled.loaded.destroy()
            if not self._alive:
                raise DeviceError(_DESTROYED_MEANWHILE)
            return self._plans[key]
        self._plans[key] = compiled
        for old in [k for k, plan in self._plans.items() if plan.users == 0 and plan is not compiled]:
            if len(self._plans) <= _PLANS_KEPT:
                break
            self._plans.pop(old).loaded.destroy()
        return compiled

    def _program(self, arrays: Mapping[str, Array]) -> tuple[Program, dict[str, Value]]:
        """Specialise; where a shape hangs on an input's values, look at that input from then on."""
        while True:
            try:
                return self._specialise(arrays, self._host)
            except HostValueNeeded as needed:
                values = input_values(self._graph.inputs, arrays, self._host)
                more = host_inputs(self._graph, needed.name, values) - self._host
                if not more:
                    raise UnsupportedError(str(needed)) from needed
                self._host |= more

    def _specialise(self, arrays: Mapping[str, Array], host: frozenset[str]) -> tuple[Program, dict[str, Value]]:
        values = input_values(self._graph.inputs, arrays, host)
        return fuse(specialise(self._graph, self._opset, values)), values


def _refuse(missing: list[str]) -> None:
    """Raise UnsupportedError with everything that is missing, so that one attempt shows the whole gap."""
    if missing:
        raise UnsupportedError("the model has operators or types that are not there:", missing)
