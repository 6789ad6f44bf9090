"""What ONNX's operators take and give, from opset 7 on: the data behind signatures.py.

A row is `operator since | inputs -> outputs | types | attributes`, and holds until the operator's next row; one that
begins with a space goes on. A parameter is `name:variable`, or `name:=type` where it has one type alone; `?` marks
what may be left out and `*` any number from one on. Types are numpy's characters: e f d floats of 16, 32 and 64
bits, b h i q integers of 8 to 64, B H I Q the unsigned ones, ? bool, F D complex. An attribute's kind is i f s t
(integer, float, string, tensor) or p (sparse), a capital is a list of them, and `!` means required.

tests/test_signatures.py compares every row with the onnx package and says what is left out on purpose.
"""

TABLE = """
Abs 6 | X:T -> Y:T | T=efdbhiqBHIQ
Add 7 | A:T B:T -> C:T | T=efdiqIQ
Add 14 | A:T B:T -> C:T | T=efdbhiqBHIQ
And 7 | A:T B:T -> C:T1 | T=? T1=?
ArgMax 1 | data:T -> reduced:=q | T=efdbhiqBHIQ | axis:i keepdims:i
ArgMax 12 | data:T -> reduced:=q | T=efdbhiqBHIQ | axis:i keepdims:i select_last_index:i
ArgMin 1 | data:T -> reduced:=q | T=efdbhiqBHIQ | axis:i keepdims:i
ArgMin 12 | data:T -> reduced:=q | T=efdbhiqBHIQ | axis:i keepdims:i select_last_index:i
AveragePool 7 | X:T -> Y:T | T=efd | auto_pad:s count_include_pad:i kernel_shape:I! pads:I strides:I
AveragePool 10 | X:T -> Y:T | T=efd | auto_pad:s ceil_mode:i count_include_pad:i kernel_shape:I! pads:I strides:I
AveragePool 19 | X:T -> Y:T | T=efd | auto_pad:s ceil_mode:i count_include_pad:i dilations:I kernel_shape:I! pads:I
    strides:I
BatchNormalization 7 | X:T scale:T B:T mean:T var:T -> Y:T mean:T? var:T? saved_mean:T? saved_var:T? | T=efd |
    epsilon:f momentum:f spatial:i
BatchNormalization 9 | X:T scale:T B:T mean:T var:T -> Y:T mean:T? var:T? saved_mean:T? saved_var:T? | T=efd |
    epsilon:f momentum:f
BatchNormalization 14 | X:T scale:T B:T input_mean:U input_var:U -> Y:T running_mean:U? running_var:U? | T=efd U=efd |
    epsilon:f momentum:f training_mode:i
BatchNormalization 15 | X:T scale:T1 B:T1 input_mean:T2 input_var:T2 -> Y:T running_mean:T2? running_var:T2? | T=efd
    T1=efd T2=efd | epsilon:f momentum:f training_mode:i
Cast 6 | input:T1 -> output:T2 | T1=efdbhiqBHIQ? T2=efdbhiqBHIQ? | to:i!
Cast 19 | input:T1 -> output:T2 | T1=efdbhiqBHIQ? T2=efdbhiqBHIQ? | saturate:i to:i!
Cast 24 | input:T1 -> output:T2 | T1=efdbhiqBHIQ? T2=efdbhiqBHIQ? | round_mode:s saturate:i to:i!
CastLike 15 | input:T1 target_type:T2 -> output:T2 | T1=efdbhiqBHIQ? T2=efdbhiqBHIQ?
CastLike 19 | input:T1 target_type:T2 -> output:T2 | T1=efdbhiqBHIQ? T2=efdbhiqBHIQ? | saturate:i
CastLike 24 | input:T1 target_type:T2 -> output:T2 | T1=efdbhiqBHIQ? T2=efdbhiqBHIQ? | round_mode:s saturate:i
Ceil 6 | X:T -> Y:T | T=efd
Celu 12 | X:T -> Y:T | T=f | alpha:f
Celu 28 | X:T -> Y:T | T=efd | alpha:f
Clip 6 | input:T -> output:T | T=efd | max:f min:f
Clip 11 | input:T min:T? max:T? -> output:T | T=efd
Clip 12 | input:T min:T? max:T? -> output:T | T=efdbhiqBHIQ
Col2Im 18 | input:T image_shape:=q block_shape:=q -> output:T | T=efdbhiqBHIQ?FD | dilations:I pads:I strides:I
Concat 4 | inputs:T* -> concat_result:T | T=efdbhiqBHIQ?FD | axis:i!
Constant 1 | -> output:T | T=efd | value:t!
Constant 9 | -> output:T | T=efdbhiqBHIQ?FD | value:t!
Constant 11 | -> output:T | T=efdbhiqBHIQ?FD | sparse_value:p value:t
Constant 12 | -> output:T | T=efdbhiqBHIQ?FD | sparse_value:p value:t value_float:f value_floats:F value_int:i
    value_ints:I value_string:s value_strings:S
ConstantOfShape 9 | input:T1 -> output:T2 | T1=q T2=efdbhiqBHIQ? | value:t
Conv 1 | X:T W:T B:T? -> Y:T | T=efd | auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I
ConvTranspose 1 | X:T W:T B:T? -> Y:T | T=efd | auto_pad:s dilations:I group:i kernel_shape:I output_padding:I
    output_shape:I pads:I strides:I
Cos 7 | input:T -> output:T | T=efd
DepthToSpace 1 | input:T -> output:T | T=efdbhiqBHIQ?FD | blocksize:i!
DepthToSpace 11 | input:T -> output:T | T=efdbhiqBHIQ?FD | blocksize:i! mode:s
DequantizeLinear 10 | x:T x_scale:=f x_zero_point:T? -> y:=f | T=biB
DequantizeLinear 13 | x:T x_scale:=f x_zero_point:T? -> y:=f | T=biB | axis:i
DequantizeLinear 19 | x:T1 x_scale:T2 x_zero_point:T1? -> y:T2 | T1=biB T2=ef | axis:i
DequantizeLinear 21 | x:T1 x_scale:T2 x_zero_point:T1? -> y:T2 | T1=bhiBH T2=ef | axis:i block_size:i
DequantizeLinear 23 | x:T1 x_scale:T2 x_zero_point:T1? -> y:T3 | T1=bhiBH T2=ef T3=ef | axis:i block_size:i
    output_dtype:i
Div 7 | A:T B:T -> C:T | T=efdiqIQ
Div 14 | A:T B:T -> C:T | T=efdbhiqBHIQ
Dropout 7 | data:T -> output:T mask:T? | T=efd | ratio:f
Dropout 10 | data:T -> output:T mask:T1? | T=efd T1=? | ratio:f
Dropout 12 | data:T ratio:T1? training_mode:T2? -> output:T mask:T2? | T=efd T1=efd T2=? | seed:i
Elu 6 | X:T -> Y:T | T=efd | alpha:f
Equal 7 | A:T B:T -> C:T1 | T=iq? T1=?
Equal 11 | A:T B:T -> C:T1 | T=efdbhiqBHIQ? T1=?
Erf 9 | input:T -> output:T | T=efdbhiqBHIQ
Erf 13 | input:T -> output:T | T=efd
Exp 6 | input:T -> output:T | T=efd
Expand 8 | input:T shape:=q -> output:T | T=efdbhiqBHIQ?FD
Flatten 1 | input:T -> output:T | T=efd | axis:i
Flatten 9 | input:T -> output:T | T=efdbhiqBHIQ?FD | axis:i
Floor 6 | X:T -> Y:T | T=efd
Gather 1 | data:T indices:Tind -> output:T | T=efdbhiqBHIQ?FD Tind=iq | axis:i
GatherElements 11 | data:T indices:Tind -> output:T | T=efdbhiqBHIQ?FD Tind=iq | axis:i
GatherND 11 | data:T indices:=q -> output:T | T=efdbhiqBHIQ?FD
GatherND 12 | data:T indices:=q -> output:T | T=efdbhiqBHIQ?FD | batch_dims:i
Gelu 20 | X:T -> Y:T | T=efd | approximate:s
Gemm 7 | A:T B:T C:T -> Y:T | T=efd | alpha:f beta:f transA:i transB:i
Gemm 9 | A:T B:T C:T -> Y:T | T=efdiqIQ | alpha:f beta:f transA:i transB:i
Gemm 11 | A:T B:T C:T? -> Y:T | T=efdiqIQ | alpha:f beta:f transA:i transB:i
GlobalAveragePool 1 | X:T -> Y:T | T=efd
GlobalLpPool 2 | X:T -> Y:T | T=efd | p:i
GlobalMaxPool 1 | X:T -> Y:T | T=efd
Greater 7 | A:T B:T -> C:T1 | T=efd T1=?
Greater 9 | A:T B:T -> C:T1 | T=efdbhiqBHIQ T1=?
GreaterOrEqual 12 | A:T B:T -> C:T1 | T=efdbhiqBHIQ T1=?
GridSample 16 | X:T1 grid:T2 -> Y:T1 | T1=efdbhiqBHIQ?FD T2=efd | align_corners:i mode:s padding_mode:s
GroupNormalization 18 | X:T scale:T bias:T -> Y:T | T=efd | epsilon:f num_groups:i!
GroupNormalization 21 | X:T scale:T bias:T -> Y:T | T=efd | epsilon:f num_groups:i! stash_type:i
HardSigmoid 6 | X:T -> Y:T | T=efd | alpha:f beta:f
HardSwish 14 | X:T -> Y:T | T=efd
Identity 1 | input:T -> output:T | T=efdbhiqBHIQ?FD
Identity 14 | input:V -> output:V | V=efdbhiqBHIQ?FD
InstanceNormalization 6 | input:T scale:T B:T -> output:T | T=efd | epsilon:f
LayerNormalization 17 | X:T Scale:T B:T? -> Y:T Mean:U? InvStdDev:U? | T=efd U=f | axis:i epsilon:f stash_type:i
LeakyRelu 6 | X:T -> Y:T | T=efd | alpha:f
Less 7 | A:T B:T -> C:T1 | T=efd T1=?
Less 9 | A:T B:T -> C:T1 | T=efdbhiqBHIQ T1=?
LessOrEqual 12 | A:T B:T -> C:T1 | T=efdbhiqBHIQ T1=?
Log 6 | input:T -> output:T | T=efd
LogSoftmax 1 | input:T -> output:T | T=efd | axis:i
LpPool 2 | X:T -> Y:T | T=efd | auto_pad:s kernel_shape:I! p:i pads:I strides:I
LpPool 18 | X:T -> Y:T | T=efd | auto_pad:s ceil_mode:i dilations:I kernel_shape:I! p:i pads:I strides:I
MatMul 1 | A:T B:T -> Y:T | T=efd
MatMul 9 | A:T B:T -> Y:T | T=efdiqIQ
Max 6 | data_0:T* -> max:T | T=efd
Max 12 | data_0:T* -> max:T | T=efdbhiqBHIQ
MaxPool 1 | X:T -> Y:T | T=efd | auto_pad:s kernel_shape:I! pads:I strides:I
MaxPool 8 | X:T -> Y:T Indices:I? | T=efd I=q | auto_pad:s kernel_shape:I! pads:I storage_order:i strides:I
MaxPool 10 | X:T -> Y:T Indices:I? | T=efd I=q | auto_pad:s ceil_mode:i dilations:I kernel_shape:I! pads:I
    storage_order:i strides:I
MaxPool 12 | X:T -> Y:T Indices:I? | T=efdbB I=q | auto_pad:s ceil_mode:i dilations:I kernel_shape:I! pads:I
    storage_order:i strides:I
MaxUnpool 9 | X:T1 I:T2 output_shape:T2? -> output:T1 | T1=efd T2=q | kernel_shape:I! pads:I strides:I
Mean 6 | data_0:T* -> mean:T | T=efd
Min 6 | data_0:T* -> min:T | T=efd
Min 12 | data_0:T* -> min:T | T=efdbhiqBHIQ
Mish 18 | X:T -> Y:T | T=efd
Mod 10 | A:T B:T -> C:T | T=efdbhiqBHIQ | fmod:i
Mul 7 | A:T B:T -> C:T | T=efdiqIQ
Mul 14 | A:T B:T -> C:T | T=efdbhiqBHIQ
Neg 6 | X:T -> Y:T | T=efdbhiq
NonZero 9 | X:T -> Y:=q | T=efdbhiqBHIQ?FD
Not 1 | X:T -> Y:T | T=?
OneHot 9 | indices:T1 depth:T2 values:T3 -> output:T3 | T1=efdbhiqBHIQ T2=efdbhiqBHIQ T3=efdbhiqBHIQ?FD | axis:i
Or 7 | A:T B:T -> C:T1 | T=? T1=?
PRelu 7 | X:T slope:T -> Y:T | T=efd
PRelu 9 | X:T slope:T -> Y:T | T=efdiqIQ
Pad 2 | data:T -> output:T | T=efd | mode:s pads:I! value:f
Pad 11 | data:T pads:=q constant_value:T? -> output:T | T=efdbhiqBHIQ | mode:s
Pad 13 | data:T pads:=q constant_value:T? -> output:T | T=efdbhiqBHIQ?FD | mode:s
Pad 18 | data:T pads:=q constant_value:T? axes:Tind? -> output:T | T=efdbhiqBHIQ?FD Tind=iq | mode:s
Pow 7 | X:T Y:T -> Z:T | T=efd
Pow 12 | X:T Y:T1 -> Z:T | T=efdiq T1=efdbhiqBHIQ
Range 11 | start:T limit:T delta:T -> output:T | T=fdhiq
Range 27 | start:T limit:T delta:T -> output:T | T=efdhiq | stash_type:i
Reciprocal 6 | X:T -> Y:T | T=efd
ReduceL1 1 | data:T -> reduced:T | T=efdiqIQ | axes:I keepdims:i
ReduceL1 18 | data:T axes:=q? -> reduced:T | T=efdiqIQ | keepdims:i noop_with_empty_axes:i
ReduceL2 1 | data:T -> reduced:T | T=efdiqIQ | axes:I keepdims:i
ReduceL2 18 | data:T axes:=q? -> reduced:T | T=efdiqIQ | keepdims:i noop_with_empty_axes:i
ReduceLogSum 1 | data:T -> reduced:T | T=efdiqIQ | axes:I keepdims:i
ReduceLogSum 18 | data:T axes:=q? -> reduced:T | T=efdiqIQ | keepdims:i noop_with_empty_axes:i
ReduceLogSum 28 | data:T axes:=q? -> reduced:T | T=efd | keepdims:i noop_with_empty_axes:i
ReduceLogSumExp 1 | data:T -> reduced:T | T=efdiqIQ | axes:I keepdims:i
ReduceLogSumExp 18 | data:T axes:=q? -> reduced:T | T=efdiqIQ | keepdims:i noop_with_empty_axes:i
ReduceLogSumExp 28 | data:T axes:=q? -> reduced:T | T=efd | keepdims:i noop_with_empty_axes:i
ReduceMax 1 | data:T -> reduced:T | T=efdiqIQ | axes:I keepdims:i
ReduceMax 12 | data:T -> reduced:T | T=efdbiqBIQ | axes:I keepdims:i
ReduceMax 18 | data:T axes:=q? -> reduced:T | T=efdbiqBIQ | keepdims:i noop_with_empty_axes:i
ReduceMax 20 | data:T axes:=q? -> reduced:T | T=efdbiqBIQ? | keepdims:i noop_with_empty_axes:i
ReduceMean 1 | data:T -> reduced:T | T=efdiqIQ | axes:I keepdims:i
ReduceMean 18 | data:T axes:=q? -> reduced:T | T=efdiqIQ | keepdims:i noop_with_empty_axes:i
ReduceMin 1 | data:T -> reduced:T | T=efdiqIQ | axes:I keepdims:i
ReduceMin 12 | data:T -> reduced:T | T=efdbiqBIQ | axes:I keepdims:i
ReduceMin 18 | data:T axes:=q? -> reduced:T | T=efdbiqBIQ | keepdims:i noop_with_empty_axes:i
ReduceMin 20 | data:T axes:=q? -> reduced:T | T=efdbiqBIQ? | keepdims:i noop_with_empty_axes:i
ReduceProd 1 | data:T -> reduced:T | T=efdiqIQ | axes:I keepdims:i
ReduceProd 18 | data:T axes:=q? -> reduced:T | T=efdiqIQ | keepdims:i noop_with_empty_axes:i
ReduceSum 1 | data:T -> reduced:T | T=efdiqIQ | axes:I keepdims:i
ReduceSum 13 | data:T axes:=q? -> reduced:T | T=efdiqIQ | keepdims:i noop_with_empty_axes:i
ReduceSumSquare 1 | data:T -> reduced:T | T=efdiqIQ | axes:I keepdims:i
ReduceSumSquare 18 | data:T axes:=q? -> reduced:T | T=efdiqIQ | keepdims:i noop_with_empty_axes:i
Relu 6 | X:T -> Y:T | T=efd
Relu 14 | X:T -> Y:T | T=efdbhiq
Reshape 5 | data:T shape:=q -> reshaped:T | T=efdbhiqBHIQ?FD
Reshape 14 | data:T shape:=q -> reshaped:T | T=efdbhiqBHIQ?FD | allowzero:i
Resize 10 | X:T scales:=f -> Y:T | T=efdbhiqBHIQ?FD | mode:s
Resize 11 | X:T1 roi:T2? scales:=f? sizes:=q? -> Y:T1 | T1=efdbhiqBHIQ?FD T2=efd | coordinate_transformation_mode:s
    cubic_coeff_a:f exclude_outside:i extrapolation_value:f mode:s nearest_mode:s
Resize 18 | X:T1 roi:T2? scales:=f? sizes:=q? -> Y:T1 | T1=efdbhiqBHIQ?FD T2=efd | antialias:i axes:I
    coordinate_transformation_mode:s cubic_coeff_a:f exclude_outside:i extrapolation_value:f
    keep_aspect_ratio_policy:s mode:s nearest_mode:s
Round 11 | X:T -> Y:T | T=efd
Selu 6 | X:T -> Y:T | T=efd | alpha:f gamma:f
Shape 1 | data:T -> shape:T1 | T=efdbhiqBHIQ?FD T1=q
Shape 15 | data:T -> shape:T1 | T=efdbhiqBHIQ?FD T1=q | end:i start:i
Sigmoid 6 | X:T -> Y:T | T=efd
Sign 9 | input:T -> output:T | T=efdbhiqBHIQ
Sin 7 | input:T -> output:T | T=efd
Size 1 | data:T -> size:T1 | T=efdbhiqBHIQ?FD T1=q
Slice 1 | data:T -> output:T | T=efdbhiqBHIQ?FD | axes:I ends:I! starts:I!
Slice 10 | data:T starts:Tind ends:Tind axes:Tind? steps:Tind? -> output:T | T=efdbhiqBHIQ?FD Tind=iq
Softmax 1 | input:T -> output:T | T=efd | axis:i
Softplus 1 | X:T -> Y:T | T=efd
Softsign 1 | input:T -> output:T | T=efd
SpaceToDepth 1 | input:T -> output:T | T=efdbhiqBHIQ?FD | blocksize:i!
SpaceToDepth 28 | input:T -> output:T | T=efdbhiqBHIQ?FD | blocksize:i! mode:s
Split 2 | input:T -> outputs:T* | T=efdbhiqBHIQ?FD | axis:i split:I
Split 13 | input:T split:=q? -> outputs:T* | T=efdbhiqBHIQ?FD | axis:i
Split 18 | input:T split:=q? -> outputs:T* | T=efdbhiqBHIQ?FD | axis:i num_outputs:i
Sqrt 6 | X:T -> Y:T | T=efd
Squeeze 1 | data:T -> squeezed:T | T=efdbhiqBHIQ?FD | axes:I
Squeeze 13 | data:T axes:=q? -> squeezed:T | T=efdbhiqBHIQ?FD
Sub 7 | A:T B:T -> C:T | T=efdiqIQ
Sub 14 | A:T B:T -> C:T | T=efdbhiqBHIQ
Sum 6 | data_0:T* -> sum:T | T=efd
Swish 24 | X:T -> Y:T | T=efd | alpha:f
Tanh 6 | input:T -> output:T | T=efd
ThresholdedRelu 10 | X:T -> Y:T | T=efd | alpha:f
Tile 6 | input:T repeats:T1 -> output:T | T=efdbhiqBHIQ?FD T1=q
Transpose 1 | data:T -> transposed:T | T=efdbhiqBHIQ?FD | perm:I
Unsqueeze 1 | data:T -> expanded:T | T=efdbhiqBHIQ?FD | axes:I!
Unsqueeze 13 | data:T axes:=q -> expanded:T | T=efdbhiqBHIQ?FD
Upsample 7 | X:T -> Y:T | T=efdbhiqBHIQ?FD | mode:s scales:F!
Upsample 9 | X:T scales:=f -> Y:T | T=efdbhiqBHIQ?FD | mode:s
Where 9 | condition:B X:T Y:T -> output:T | B=? T=efdbhiqBHIQ?FD
Xor 7 | A:T B:T -> C:T1 | T=? T1=?
onegpu.Silu 1 | X:T -> Y:T | T=efd
"""
