"""64-bit integers on the GPU are exact or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from test_missing import SAMPLES, form, sample
from test_session import make

from onegpu_web import InferenceSession, ops
from onegpu_web.device import Device, wait
from onegpu_web.errors import UnsupportedError
from onegpu_web.graph.host import HOST_OPS, run_host
from onegpu_web.graph.lowering import NodeView, Step, Value
from onegpu_web.graph.model import Node
from onegpu_web.graph.operators import HANDLERS
from onegpu_web.graph.passes import simplify
from onegpu_web.graph.reader import read_model
from onegpu_web.graph.spans import RULES, made
from onegpu_web.graph.specialise import specialise
from onegpu_web.ops import Tensor
from onegpu_web.testing.session_scenarios import integers_are_exact_or_refused

INT64, FLOAT = TensorProto.INT64, TensorProto.FLOAT
LOWEST, HIGHEST = -(2**31), 2**31 - 1
NAN = float("nan")

# Operator, its second operand and attributes; operands whose results fit, with the results; operands that do not.
EXACT: dict[str, tuple[str, Any, dict[str, Any], Any, Any, list[Any]]] = {
    "add": ("Add", HIGHEST, {}, [0, LOWEST], [HIGHEST, -1], [[1, 0], [5, HIGHEST]]),
    "add-below": ("Add", LOWEST, {}, [0, HIGHEST], [LOWEST, -1], [[-1, 0]]),
    "sub": ("Sub", LOWEST + 1, {}, [0, -1], [HIGHEST, HIGHEST - 1], [[1, 0], [HIGHEST, 0]]),
    "mul": ("Mul", 70000, {}, [30000, -30000], [2100000000, -2100000000], [[70000, 0], [-70000, 0], [LOWEST, 1]]),
    "div": ("Div", -1, {}, [HIGHEST, LOWEST + 1], [-HIGHEST, HIGHEST], [[LOWEST, 0]]),
    "pow": ("Pow", 3, {}, [1200, -1200], [1728000000, -1728000000], [[70000, 0], [-1300, 0]]),
    "neg": ("Neg", None, {}, [HIGHEST, LOWEST + 1], [-HIGHEST, HIGHEST], [[LOWEST, 0]]),
    "abs": ("Abs", None, {}, [-HIGHEST, 5], [HIGHEST, 5], [[0, LOWEST]]),
    "sum": ("ReduceSum", None, {}, [10**9, 10**9], [2 * 10**9], [[2 * 10**9, 2 * 10**9], [HIGHEST, 1]]),
    "mean": ("ReduceMean", None, {}, [10**9, 10**9], [10**9], [[2 * 10**9, 2 * 10**9]]),
    "l1": ("ReduceL1", None, {}, [-(10**9), 10**9], [2 * 10**9], [[LOWEST, 0], [-2 * 10**9, 2 * 10**9]]),
    "sum-square": ("ReduceSumSquare", None, {}, [30000, -30000], [1800000000], [[46000, 46000], [70000, 0]]),
    "prod": ("ReduceProd", None, {}, [46000, -46000], [-2116000000], [[70000, 70000], [LOWEST, -1]]),
}


def session_of(op: str, second: Any, attributes: dict[str, Any], code: int, shape: Any) -> InferenceSession:
    names = ["x"] if second is None else ["x", "c"]
    attributes = {**attributes, **({"keepdims": 0} if op.startswith("Reduce") else {})}
    constants = {} if second is None else {"c": np.array([second], np.int64)}
    node = helper.make_node(op, names, ["y"], **attributes)
    return InferenceSession.create_sync(make([node], {"x": (code, shape)}, ["y"], constants))


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [[2], ["N"]], ids=["fixed", "free"])
@pytest.mark.parametrize("case", EXACT)
def test_results_are_exact_or_refused(case: str, shape: Any) -> None:
    op, second, attributes, fits, results, others = EXACT[case]
    session = session_of(op, second, attributes, INT64, shape)
    for other in others:
        with pytest.raises(UnsupportedError, match=f"{op} 'y': results of int64 must fit 32 bits"):
            session.run_sync(None, {"x": np.array(other, np.int64)})
        (y,) = session.run_sync(None, {"x": np.array(fits, np.int64)})
        assert (y.dtype, np.atleast_1d(y).tolist()) == (np.int64, results)
    session.destroy()


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("dtype", "fits", "others"),
    [
        (np.float32, [2147483520, -2147483520.0, 1.75, -1.75], [[2147483648.0], [-3e9], [np.inf], [NAN], [1, NAN]]),
        (np.float16, [65504, -1.5], [[np.inf], [NAN], [-np.inf]]),
        (np.uint32, [HIGHEST, 0], [[2**31], [2**32 - 1]]),
    ],
)
def test_casts_are_exact_or_refused(dtype: Any, fits: list[Any], others: list[Any]) -> None:
    code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    node = helper.make_node("Cast", ["x"], ["y"], to=INT64)
    session = InferenceSession.create_sync(make([node], {"x": (code, ["N"])}, ["y"], {}))
    for other in others:
        with pytest.raises(UnsupportedError, match="Cast 'y': results of int64 must fit 32 bits"):
            session.run_sync(None, {"x": np.array(other, dtype)})
        (y,) = session.run_sync(None, {"x": np.array(fits, dtype)})
        assert y.tolist() == [int(value) for value in fits]
    session.destroy()


@pytest.mark.gpu
def test_int32_wraps_as_it_always_did() -> None:
    node = helper.make_node("Mul", ["x", "x"], ["y"])
    session = InferenceSession.create_sync(make([node], {"x": (TensorProto.INT32, [1])}, ["y"], {}))
    assert session.run_sync(None, {"x": np.array([70000], np.int32)})[0].tolist() == [605032704]
    session.destroy()


@pytest.mark.gpu
@pytest.mark.parametrize("code", [INT64, TensorProto.INT32])
def test_integers_are_raised_to_integers(code: int) -> None:
    dtype = helper.tensor_dtype_to_np_dtype(code)
    node = helper.make_node("Pow", ["x", "e"], ["y"])
    session = InferenceSession.create_sync(make([node], {"x": (code, [2]), "e": [2]}, ["y"], {}))
    (y,) = session.run_sync(None, {"x": np.array([4, -3], dtype), "e": np.array([2, 3], np.float32)})
    assert y.tolist() == [16, -27]
    with pytest.raises(UnsupportedError, match="exponents of integers must be integers"):
        session.run_sync(None, {"x": np.array([4, -3], dtype), "e": np.array([0.5, 3], np.float32)})
    session.destroy()
    with pytest.raises(UnsupportedError, match="exponents of integers must be integers"):
        InferenceSession.create_sync(make([node], {"x": (code, [2])}, ["y"], {"e": np.array([0.5], np.float32)}))


@pytest.mark.gpu
def test_operations_are_exact_or_refused(device: Device) -> None:
    x, y = np.array([70000, 3], np.int64), np.array([30000, 4], np.int64)
    assert ops.mul_sync(x, y).tolist() == [2100000000, 12]
    with pytest.raises(UnsupportedError, match="Mul 'y': results of int64"):
        ops.mul_sync(x, x)
    held = Tensor.from_numpy_sync(x, device)
    assert ops.mul_sync(held, y).numpy_sync().tolist() == [2100000000, 12]
    with pytest.raises(UnsupportedError, match="Mul 'y': results of int64"):
        ops.mul_sync(held, held)
    held.destroy()


@pytest.mark.gpu
def test_integers_are_exact_or_refused_in_the_scenario_of_both_backends(device: Device) -> None:
    before = device.live_buffers()
    wait(integers_are_exact_or_refused(device))
    assert device.live_buffers() == before


@pytest.mark.parametrize(
    ("op", "names", "constants"),
    [
        ("Add", "x c", {"c": np.array([2**40])}),
        ("Where", "b x c", {"c": np.array([-(2**40)]), "b": np.array([True])}),
        ("Pad", "x p c", {"c": np.array(2**40), "p": np.array([1, 0])}),
    ],
)
def test_wide_constants_are_refused_at_load(device: Device, op: str, names: str, constants: dict[str, Any]) -> None:
    node = helper.make_node(op, names.split(), ["y"])
    with pytest.raises(UnsupportedError, match=f"{op}: 1 node, which is 'y' \\('c' has integers that 32 bits"):
        InferenceSession.create_sync(make([node], {"x": (INT64, ["N"])}, ["y"], constants), device=device)


@pytest.mark.gpu
def test_a_bound_beyond_every_value_is_none(device: Device) -> None:
    node = helper.make_node("Clip", ["x", "lo", "hi"], ["y"])
    constants = {"lo": np.array(0), "hi": np.array(2**63 - 1)}
    session = InferenceSession.create_sync(make([node], {"x": (INT64, ["N"])}, ["y"], constants), device=device)
    assert session.run_sync(None, {"x": np.array([-5, 5])})[0].tolist() == [0, 5]
    session.destroy()


# What detectors and recognizers compute of indices: proven from shapes, so that nothing is checked at run time.
PROVEN: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
    "rows-of-an-index": [("ArgMax", "x", {"axis": 1}), ("Mul", "{} k", {}), ("Add", "{} k", {}), ("Sub", "{} k", {})],
    "back-to-a-row": [("ArgMax", "x", {"axis": 1}), ("Div", "{} k", {}), ("Mod", "{} k", {}), ("Neg", "{}", {})],
    "a-count": [("Greater", "x f", {}), ("Cast", "{}", {"to": INT64}), ("ReduceSum", "{}", {})],
    "a-bounded-float": [("Sigmoid", "x", {}), ("Mul", "{} f", {}), ("Floor", "{}", {}), ("Cast", "{}", {"to": INT64})],
    "a-clipped-float": [("Clip", "x z f", {}), ("Cast", "{}", {"to": INT64}), ("Mul", "{} k", {})],
    "a-gathered-index": [("ArgMax", "x", {"axis": 1}), ("Gather", "t {}", {}), ("Mul", "{} k", {})],
}
NUMBERS = {"k": np.array([1000]), "f": np.float32(640), "z": np.float32(0), "t": np.arange(4) * 1000}


def chain(steps: list[tuple[str, str, dict[str, Any]]]) -> bytes:
    nodes, last = [], ""
    for index, (op, inputs, attributes) in enumerate(steps):
        name = "y" if index == len(steps) - 1 else f"v{index}"
        nodes.append(helper.make_node(op, inputs.format(last).split(), [name], **attributes))
        last = name
    return make(nodes, {"x": [2, 4, 3]}, ["y"], NUMBERS)


@pytest.mark.gpu
@pytest.mark.parametrize("name", PROVEN)
def test_what_shapes_prove_is_not_checked(device: Device, name: str) -> None:
    model = read_model(chain(PROVEN[name]))
    program = specialise(simplify(model.graph, 17), 17, {"x": Value("x", "float32", (2, 4, 3))})
    assert not program.checks
    assert sum(isinstance(step, Step) for step in program.steps) == len(PROVEN[name])


def test_what_may_overflow_is_checked() -> None:
    model = read_model(chain([("Cast", "x", {"to": INT64}), ("Mul", "{} k", {})]))
    program = specialise(simplify(model.graph, 17), 17, {"x": Value("x", "float32", (2, 4, 3))})
    assert len(program.checks) == 2


def gives_int64() -> list[str]:
    found = []
    for operator in sorted(set(HANDLERS) - {"onegpu.Silu"}):
        signature, _ = form(operator)
        if any("int64" in signature.types[each.variable] for each in signature.outputs):
            found.append(operator)
    return found


@pytest.mark.parametrize("operator", gives_int64())
def test_every_operator_that_gives_int64_has_a_rule(operator: str) -> None:
    """Or no kernel for int64, or an index as its result."""
    opset = form(operator)[1]
    if operator in RULES or operator in ("ArgMax", "ArgMin", "MaxPool"):
        return
    graph, values = sample(operator, {"T": "int64", "T1": "int64", "T2": "float32"})
    with pytest.raises(Exception, match="must be"):
        specialise(graph, opset, values)


@pytest.mark.parametrize("dtype", ["int64", "float32"])
@pytest.mark.parametrize("operator", sorted(set(RULES) & set(HOST_OPS)))
def test_spans_are_never_too_narrow(operator: str, dtype: str) -> None:
    """Random operands in the host's 64 bits against the span of their extremes."""
    found, opset = form(operator)
    variable = found.inputs[0].variable
    if dtype not in found.types[variable]:
        return
    rng = np.random.default_rng(len(operator))
    given, attributes = SAMPLES.get(operator, ([(4, 3)] * sum(1 for e in found.inputs if not e.optional), {}))
    for _ in range(30):
        arrays: list[Any] = []
        for index, shape in enumerate(given):
            parameter = found.input(index)
            assert parameter is not None
            size = int(rng.choice([2, 9] if operator == "Pow" and index else [2, 9, 1000]))
            kind = dtype if dtype in found.types[parameter.variable] else found.types[parameter.variable][-1]
            if parameter.name == "indices":
                arrays.append(rng.integers(0, given[0][0], shape))
            elif operator == "Clip" and index:
                arrays.append(np.array(size * (2 * index - 3), kind))
            elif shape is None or isinstance(shape, np.ndarray):
                arrays.append(shape)
            else:
                low = 1 if (operator in ("Div", "Mod") and index) else 0 if operator == "Pow" and index else -size
                numbers = rng.integers(low, size, shape) if kind != "float32" else rng.uniform(low, size, shape)
                arrays.append(numbers.astype(kind))
        names = tuple("" if array is None else f"i{index}" for index, array in enumerate(arrays))
        node = Node(operator, names, ("y",), attributes=attributes)
        result = run_host(node, arrays, opset)[0]
        values = tuple(
            None if a is None else Value(n, str(a.dtype), a.shape, a) for n, a in zip(names, arrays, strict=True)
        )
        low, high = made(NodeView(node, opset, values), 0, {}, Value("y", str(result.dtype), result.shape))
        result = np.nan_to_num(result)
        assert low <= result.min()
        assert result.max() <= high
