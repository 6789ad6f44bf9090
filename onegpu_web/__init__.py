"""Image models on WebGPU from Python: in the browser (Pyodide) and on the desktop (wgpu-py)."""

__version__ = "0.1.0"
