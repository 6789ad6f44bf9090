"""How many inputs each operator must have, so that nothing behind the reader has to ask whether they are there."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import ModelError
from .model import Node

# Inputs that every opset from 7 on requires, by operator; what is not here is not checked. Pad, Slice, Unsqueeze and
# Upsample had attributes first where they have inputs now.
_OPERATORS_BY_INPUTS = {
    1: """Abs Acos ArgMax ArgMin AveragePool Cast Ceil Clip Concat ConstantOfShape Cos DepthToSpace Dropout
        DynamicQuantizeLinear Elu Erf Exp Flatten Floor Gelu GlobalAveragePool GlobalMaxPool HardSigmoid HardSwish
        Identity LeakyRelu Log LogSoftmax LpNormalization LpPool LRN Max MaxPool Mean Min Mish Neg NonZero Not Pad
        Reciprocal ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Relu Resize Round Selu Shape
        Sigmoid Sign Sin Size Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sum Swish Tan Tanh
        ThresholdedRelu Transpose Unsqueeze Upsample""",
    2: """Add And BitShift Conv ConvInteger ConvTranspose DequantizeLinear Div Equal Expand Gather GatherElements
        GatherND Gemm Greater GreaterOrEqual GridSample LayerNormalization Less LessOrEqual MatMul MatMulInteger
        MaxUnpool Mod Mul Or PRelu Pow QuantizeLinear Reshape Sub Tile Xor""",
    3: "Col2Im DeformConv GroupNormalization InstanceNormalization OneHot Range ScatterElements ScatterND Where",
    5: "BatchNormalization",
    8: "QLinearConv QLinearMatMul",
}
REQUIRED_INPUTS = {name: count for count, names in _OPERATORS_BY_INPUTS.items() for name in names.split()}


def check_arity(nodes: Iterable[Node]) -> None:
    """Raises: ModelError where a node lacks a required input or its first output."""
    for node in nodes:
        count = REQUIRED_INPUTS.get(node.op_type)
        if count is None or node.domain:
            continue
        given = sum(1 for name in node.inputs[:count] if name)
        if given < count:
            raise ModelError(f"{node.label}: inputs must be at least {count}, got {given}")
        if not node.outputs or not node.outputs[0]:
            raise ModelError(f"{node.op_type} '{node.name}': its first output must have a name")
