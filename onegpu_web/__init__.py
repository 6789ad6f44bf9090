"""Image models on WebGPU from Python: in the browser (Pyodide) and on the desktop (wgpu-py).

    session = await onegpu_web.InferenceSession.create("model.onnx")
    outputs = await session.run(None, {"input": picture})

`ops` has single operations on numpy arrays and GPU tensors, `kernels` the families below them.
"""

from . import errors, ops
from .device import Buffer, Device, request_device, request_device_sync
from .graph.session import InferenceSession
from .ops import Tensor

__version__ = "0.1.0"
__all__ = [
    "Buffer",
    "Device",
    "InferenceSession",
    "Tensor",
    "__version__",
    "errors",
    "ops",
    "request_device",
    "request_device_sync",
]
