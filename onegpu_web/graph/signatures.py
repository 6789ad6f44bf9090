"""What ONNX's operators take, by opset: inputs with their types, and the attributes that must be there.

One line for each form of an operator: its name, the opset that it came with, then the inputs in order as NAME:TYPE.
Inputs whose TYPE is one letter's variable (T, T1, U ...) are of one type; lower-case names are the types allowed.
`?` may be left out, `*` may come any number of times. `!name` is a required attribute. The operators are those that
have a kernel or host arithmetic, the forms those that opset 7 and later use.
Source: onnx.defs; a test compares every line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from ..errors import KernelShapeError, ModelError
from .model import Node

NEWEST_OPSET = 28
TABLE = """
Abs 6 X:T
Add 6 A:T B:T
And 1 A:bool B:bool
ArgMax 1 data:T
ArgMin 1 data:T
AveragePool 1 X:T !kernel_shape
BatchNormalization 6 X:T scale:T B:T mean:T var:T
BatchNormalization 14 X:T scale:T B:T input_mean:U input_var:U
BatchNormalization 15 X:T scale:T1 B:T1 input_mean:T2 input_var:T2
Cast 6 input:T1 !to
CastLike 15 input:T1 target_type:T2
Ceil 6 X:T
Celu 12 X:T
Clip 6 input:T
Clip 11 input:T min:T? max:T?
Col2Im 18 input:T image_shape:int64 block_shape:int64
Concat 4 inputs:T* !axis
Constant 1 !value
Constant 11
ConstantOfShape 9 input:int64
Conv 1 X:T W:T B:T?
ConvTranspose 1 X:T W:T B:T?
Cos 7 input:T
DepthToSpace 1 input:T !blocksize
DequantizeLinear 10 x:T x_scale:float32 x_zero_point:T?
DequantizeLinear 19 x:T1 x_scale:T2 x_zero_point:T1?
Div 6 A:T B:T
Dropout 6 data:T
Dropout 12 data:T ratio:T1? training_mode:bool?
Elu 6 X:T
Equal 1 A:bool|int32|int64 B:bool|int32|int64
Equal 11 A:T B:T
Erf 9 input:T
Exp 6 input:T
Expand 8 input:T shape:int64
Flatten 1 input:T
Floor 6 X:T
Gather 1 data:T indices:int32|int64
GatherElements 11 data:T indices:int32|int64
GatherND 11 data:T indices:int64
Gelu 20 X:T
Gemm 6 A:T B:T C:T
Gemm 11 A:T B:T C:T?
GlobalAveragePool 1 X:T
GlobalLpPool 2 X:T
GlobalMaxPool 1 X:T
Greater 1 A:T B:T
GreaterOrEqual 12 A:T B:T
GridSample 16 X:T1 grid:T2
GroupNormalization 18 X:T scale:T bias:T !num_groups
HardSigmoid 6 X:T
HardSwish 14 X:T
Identity 1 input:T
Identity 14 input:V
InstanceNormalization 6 input:T scale:T B:T
LayerNormalization 17 X:T Scale:T B:T?
LeakyRelu 6 X:T
Less 1 A:T B:T
LessOrEqual 12 A:T B:T
Log 6 input:T
LogSoftmax 1 input:T
LpPool 2 X:T !kernel_shape
MatMul 1 A:T B:T
Max 6 data_0:T*
MaxPool 1 X:T !kernel_shape
MaxUnpool 9 X:T1 I:int64 output_shape:int64? !kernel_shape
Mean 6 data_0:T*
Min 6 data_0:T*
Mish 18 X:T
Mod 10 A:T B:T
Mul 6 A:T B:T
Neg 6 X:T
NonZero 9 X:T
Not 1 X:bool
OneHot 9 indices:T1 depth:T2 values:T3
Or 1 A:bool B:bool
PRelu 6 X:T slope:T
Pad 2 data:T !pads
Pad 11 data:T pads:int64 constant_value:T?
Pad 18 data:T pads:int64 constant_value:T? axes:int32|int64?
Pow 1 X:T Y:T
Pow 12 X:T Y:T1
Range 11 start:T limit:T delta:T
Reciprocal 6 X:T
ReduceL1 1 data:T
ReduceL1 18 data:T axes:int64?
ReduceL2 1 data:T
ReduceL2 18 data:T axes:int64?
ReduceLogSum 1 data:T
ReduceLogSum 18 data:T axes:int64?
ReduceLogSumExp 1 data:T
ReduceLogSumExp 18 data:T axes:int64?
ReduceMax 1 data:T
ReduceMax 18 data:T axes:int64?
ReduceMean 1 data:T
ReduceMean 18 data:T axes:int64?
ReduceMin 1 data:T
ReduceMin 18 data:T axes:int64?
ReduceProd 1 data:T
ReduceProd 18 data:T axes:int64?
ReduceSum 1 data:T
ReduceSum 13 data:T axes:int64?
ReduceSumSquare 1 data:T
ReduceSumSquare 18 data:T axes:int64?
Relu 6 X:T
Reshape 5 data:T shape:int64
Resize 10 X:T scales:float32
Resize 11 X:T1 roi:T2? scales:float32? sizes:int64?
Round 11 X:T
Selu 6 X:T
Shape 1 data:T
Sigmoid 6 X:T
Sign 9 input:T
Sin 7 input:T
Size 1 data:T
Slice 1 data:T !ends !starts
Slice 10 data:T starts:int32|int64 ends:int32|int64 axes:int32|int64? steps:int32|int64?
Softmax 1 input:T
Softplus 1 X:T
Softsign 1 input:T
SpaceToDepth 1 input:T !blocksize
Split 2 input:T
Split 13 input:T split:int64?
Sqrt 6 X:T
Squeeze 1 data:T
Squeeze 13 data:T axes:int64?
Sub 6 A:T B:T
Sum 6 data_0:T*
Swish 24 X:T
Tanh 6 input:T
ThresholdedRelu 10 X:T
Tile 6 input:T repeats:int64
Transpose 1 data:T
Unsqueeze 1 data:T !axes
Unsqueeze 13 data:T axes:int64
Upsample 1 X:T !height_scale !width_scale
Upsample 7 X:T !scales
Upsample 9 X:T scales:float32
Where 9 condition:bool X:T Y:T
Xor 1 A:bool B:bool
"""


@dataclass(frozen=True, slots=True)
class Input:
    """One input: its name in ONNX, a type variable or the types allowed, and whether it may be missing or repeated."""

    name: str
    types: str
    optional: bool
    variadic: bool


@dataclass(frozen=True, slots=True)
class Signature:
    """One form of an operator."""

    since: int
    inputs: tuple[Input, ...]
    attributes: tuple[str, ...]

    @property
    def least(self) -> int:
        """Inputs that must be there."""
        return max((i for i, each in enumerate(self.inputs, 1) if not each.optional), default=0)

    @property
    def most(self) -> int | None:
        """Inputs that there can be, None for any number."""
        return None if any(each.variadic for each in self.inputs) else len(self.inputs)

    def input(self, index: int) -> Input | None:
        """Input `index`; the last one where it may be repeated."""
        if index < len(self.inputs):
            return self.inputs[index]
        return self.inputs[-1] if self.most is None else None


@cache
def _forms() -> dict[str, list[str]]:
    forms: dict[str, list[str]] = {}
    for line in TABLE.split("\n"):
        if line:
            forms.setdefault(line.partition(" ")[0], []).append(line)
    return forms


@lru_cache(maxsize=512)
def signature(op_type: str, opset: int) -> Signature | None:
    """The form of an operator that `opset` uses; None for operators that are not in the table or newer."""
    chosen = None
    for line in _forms().get(op_type, ()):
        _, since, *parts = line.split()
        if int(since) <= opset:
            chosen = (int(since), parts)
    if chosen is None:
        return None
    inputs = []
    for part in chosen[1]:
        if not part.startswith("!"):
            name, _, types = part.partition(":")
            inputs.append(Input(name, types.rstrip("?*"), types.endswith("?"), types.endswith("*")))
    return Signature(chosen[0], tuple(inputs), tuple(part[1:] for part in chosen[1] if part.startswith("!")))


def check_nodes(nodes: Iterable[Node], opset: int) -> None:
    """Raises: ModelError where a node has too few or too many inputs, or lacks a required attribute or its output."""
    for node in nodes:
        form = None if node.domain else signature(node.op_type, opset)
        if form is None:
            continue
        given = sum(1 for name in node.inputs[: form.least] if name)
        if given < form.least:
            raise ModelError(f"{node.label}: inputs must be at least {form.least}, got {given}")
        count = max((index for index, name in enumerate(node.inputs, 1) if name), default=0)
        if form.most is not None and count > form.most:
            raise ModelError(f"{node.label}: inputs must be at most {form.most}, got {count}")
        missing = [name for name in form.attributes if name not in node.attributes]
        if missing:
            raise ModelError(f"{node.label}: attribute {', '.join(missing)} must be given")
        if not node.outputs or not node.outputs[0]:
            raise ModelError(f"{node.op_type} '{node.name}': its first output must have a name")


def check_types(node: Node, opset: int, types: Sequence[str | None]) -> None:
    """Raises: KernelShapeError where an input is of a type that the operator does not take.

    types: of the inputs in order, None where one is left out.
    """
    form = None if node.domain else signature(node.op_type, opset)
    if form is None:
        return
    bound: dict[str, tuple[str, str]] = {}
    for index, dtype in enumerate(types):
        wanted = form.input(index)
        if wanted is None or dtype is None:
            continue
        if wanted.types[0].isupper():
            first, agreed = bound.setdefault(wanted.types, (wanted.name, dtype))
            if dtype != agreed:
                raise KernelShapeError(
                    f"{node.label}: {wanted.name} must be of {first}'s type {agreed}, got {dtype}: inputs "
                    "must be of one type"
                )
        elif dtype not in wanted.types.split("|"):
            raise KernelShapeError(f"{node.label}: {wanted.name} must be {wanted.types}, got {dtype}")
