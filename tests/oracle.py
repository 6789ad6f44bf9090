"""onnxruntime as a session of the package's shape: the jobs must give the same on it as on the GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray


class OracleSession:
    """A model on onnxruntime's CPU provider, awaited like an InferenceSession.

    shapes: the input shape of every run, in order.
    """

    gpu_ms: float | None = None

    def __init__(self, model: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # more would spin while other tests use the cores
        options.log_severity_level = 3  # the models carry initializers that no node uses
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.metadata: dict[str, str] = dict(self._session.get_modelmeta().custom_metadata_map)
        self.shapes: list[tuple[int, ...]] = []

    def get_inputs(self) -> Sequence[Any]:
        return self._session.get_inputs()

    def get_outputs(self) -> Sequence[Any]:
        return self._session.get_outputs()

    async def run(
        self, output_names: Sequence[str] | None, feeds: Mapping[str, NDArray[np.float32]]
    ) -> list[NDArray[Any]]:
        self.shapes += [array.shape for array in feeds.values()]
        return self._session.run(output_names, dict(feeds))

    def destroy(self) -> None:
        """Nothing is held that the garbage collector does not free."""
