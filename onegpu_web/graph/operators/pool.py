"""ONNX pooling: windows (MaxPool, AveragePool, LpPool) and whole planes (the Global ones)."""

from __future__ import annotations

from ...kernels import pool as pool_kernels
from ...kernels import pool_global
from ...problems.pool import GlobalPoolProblem, PoolProblem
from ..lowering import Lowered, NodeView, Step

_KINDS = {
    "MaxPool": "max",
    "AveragePool": "average",
    "LpPool": "lp",
    "GlobalMaxPool": "max",
    "GlobalAveragePool": "average",
    "GlobalLpPool": "lp",
}


def pool(node: NodeView) -> list[Lowered]:
    """MaxPool-22 (with Indices), AveragePool-22, LpPool-22: x (N, C, D1..Dn).

    A window as large as the input is a global pool, whose kernels do not leave a plane to one thread.
    """
    x, kernel_shape = node.required(0), node.node.get_ints("kernel_shape") or ()
    auto_pad = node.node.get_str("auto_pad", "NOTSET")
    indices = len(node.outputs) > 1 and node.outputs[1] != ""
    problem = PoolProblem(
        _KINDS[node.op_type],
        x.shape,
        kernel_shape,
        strides=node.node.get_ints("strides") or (),
        # Exporters write pads beside auto_pad, which then decides.
        pads=(node.node.get_ints("pads") or ()) if auto_pad == "NOTSET" else (),
        dilations=node.node.get_ints("dilations") or (),
        auto_pad=auto_pad,
        ceil_mode=node.node.get_int("ceil_mode", 0) != 0,
        count_include_pad=node.node.get_int("count_include_pad", 0) != 0,
        p=node.node.get_float("p", 2.0),
        indices=indices,
        storage_order=node.node.get_int("storage_order", 0),
        dtype=x.stored,
    )
    writes = {"y": node.output(0, problem.output_shape, x.dtype)}
    if not indices and problem.covers_planes:
        whole = GlobalPoolProblem(problem.kind, x.shape, p=problem.p, dtype=x.stored)
        return [Step(pool_global.FAMILY, whole, {"x": x.name}, writes)]
    if indices:
        writes["indices"] = node.output(1, problem.output_shape, "int64")
    return [Step(pool_kernels.FAMILY, problem, {"x": x.name}, writes)]


def global_pool(node: NodeView) -> list[Lowered]:
    """GlobalMaxPool-22, GlobalAveragePool-22, GlobalLpPool-22: x (N, C, D1..Dn) to y (N, C, 1..1)."""
    x = node.required(0)
    problem = GlobalPoolProblem(_KINDS[node.op_type], x.shape, p=node.node.get_float("p", 2.0), dtype=x.stored)
    y = node.output(0, problem.output_shape, x.dtype)
    return [Step(pool_global.FAMILY, problem, {"x": x.name}, {"y": y})]


HANDLERS = {name: global_pool if name.startswith("Global") else pool for name in _KINDS}
