"""ConvKernels: which variant runs what, scratch, chunks, refusals, determinism."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from onegpu_web.caps import Caps, Limits
from onegpu_web.device import Buffer, Device
from onegpu_web.dtypes import FLOAT16
from onegpu_web.errors import KernelShapeError
from onegpu_web.kernels.conv import CONV, ConvKernels
from onegpu_web.plan import Recorder, Role
from onegpu_web.problems.activation import Activation
from onegpu_web.problems.conv import Convolution, ConvProblem
from onegpu_web.problems.conv_transpose import ConvTransposeProblem
from onegpu_web.testing.cases import conv as conv_cases
from onegpu_web.testing.cases import conv_transpose as transpose_cases

SPLIT = ConvProblem((3, 90, 6, 7), (20, 90, 3, 3), pads=(1, 1, 1, 1), has_bias=True, activation=Activation("relu"))
SCATTER = ConvTransposeProblem((3, 9, 5, 6), (9, 5, 3, 3), strides=(2, 2), pads=(1, 1, 1, 1), has_bias=True)


@pytest.mark.parametrize(
    ("problem", "name"),
    [
        (ConvProblem((1, 6, 9, 9), (6, 1, 3, 3), group=6), "depthwise"),
        (ConvProblem((1, 6, 9, 9), (18, 1, 3, 3), group=6), "depthwise"),
        (ConvProblem((1, 3, 224, 224), (64, 3, 7, 7), pads=(3,) * 4, strides=(2, 2)), "implicit_gemm"),
        (ConvProblem((1, 3, 224, 224), (16, 3, 3, 3), pads=(1,) * 4, strides=(2, 2)), "direct"),
        (ConvProblem((1, 96, 1, 1), (24, 96, 1, 1)), "dot"),
        (ConvProblem((1, 256, 14, 14), (256, 256, 3, 3), pads=(1,) * 4), "split_k"),
        (ConvProblem((8, 64, 56, 56), (256, 64, 1, 1)), "pointwise"),
        (ConvProblem((8, 64, 56, 56), (64, 64, 3, 3), pads=(1,) * 4), "implicit_gemm"),
        (ConvTransposeProblem((1, 64, 32, 32), (64, 64, 2, 2), strides=(2, 2)), "transpose_pointwise"),
        (ConvTransposeProblem((1, 64, 32, 32), (64, 64, 3, 3), strides=(2, 2)), "gemm_col2im"),
        (ConvTransposeProblem((1, 3, 32, 32), (3, 3, 3, 3), strides=(2, 2)), "plain"),
    ],
)
def test_variant_of_a_layer(problem: Convolution, name: str) -> None:
    assert ConvKernels().describe_variant(problem) == name


def test_half_needs_the_feature() -> None:
    with pytest.raises(KernelShapeError, match="shader-f16"):
        ConvKernels().describe_variant(SPLIT, half=True)
    assert ConvKernels(Caps(features=frozenset({"shader-f16"}))).describe_variant(SPLIT, half=True) == "split_k"


def test_a_forced_variant_names_its_reason() -> None:
    with pytest.raises(KernelShapeError, match="depthwise does not run this problem: more than one input channel"):
        ConvKernels(variant="depthwise").describe_variant(SPLIT)
    with pytest.raises(KernelShapeError, match="variant must be one of"):
        ConvKernels(variant="winograd").describe_variant(SPLIT)
    with pytest.raises(KernelShapeError, match="tile must be one of"):
        ConvKernels(variant="implicit_gemm@1x1").describe_variant(SPLIT)


def test_deterministic_is_the_default_and_a_bool() -> None:
    assert ConvKernels().caps.deterministic
    assert not ConvKernels(Caps(deterministic=False)).caps.deterministic
    assert not ConvKernels(deterministic=False).caps.deterministic
    assert ConvKernels(Caps(deterministic=False), deterministic=True).caps.deterministic
    with pytest.raises(KernelShapeError, match="deterministic must be True or False, got 'fast'"):
        ConvKernels(deterministic="fast")  # type: ignore[arg-type]


def _run(
    device: Device, kernels: ConvKernels, problem: Convolution, scratch: Buffer | None, scratch_offset: int = 0
) -> bytes:
    """y of a problem over seeded operands."""
    cases = transpose_cases if isinstance(problem, ConvTransposeProblem) else conv_cases
    arrays = cases.arrays(problem, np.random.default_rng(3))
    recorder = Recorder(device.caps)
    operands = {role: recorder.buffer(a.nbytes, Role.INPUT, role) for role, a in arrays.items()}
    out = np.empty(problem.output_shape, problem.dtype.name)
    y = recorder.buffer(out.nbytes, Role.OUTPUT, "y")
    encode = kernels.encode_transpose if isinstance(problem, ConvTransposeProblem) else kernels.encode
    encode(recorder, problem, y=y, scratch=scratch, scratch_offset=scratch_offset, **operands)  # type: ignore[arg-type]
    loaded = device.load_sync(recorder.finish())
    try:
        loaded.run_sync(list(arrays.values()), [out.reshape(-1).view(np.uint8)])
    finally:
        loaded.destroy()
    return out.tobytes()


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("variant", "problem"), [("split_k", SPLIT), ("im2col", SPLIT), ("gemm_col2im", SCATTER)], ids=lambda v: str(v)[:12]
)
def test_chunks_of_whole_images_give_the_same_bits(device: Device, variant: str, problem: Convolution) -> None:
    kernels = ConvKernels(device.caps, variant=variant)
    need = kernels.scratch(problem)
    assert need.batch == 3 * need.image > 0
    own = _run(device, kernels, problem, None)
    free = replace(kernels, deterministic=False)
    assert _run(device, free, problem, None) == own  # whole, the modes do the same
    for images, offset in ((3, 0), (2, 5), (1, 3)):
        scratch = device.create_buffer(4 * (offset + images * need.image), "scratch")
        assert _run(device, kernels, problem, scratch, offset) == own
        near = np.frombuffer(_run(device, free, problem, scratch, offset), np.float32)
        np.testing.assert_allclose(near, np.frombuffer(own, np.float32), atol=1e-5)
        scratch.destroy()
    small = device.create_buffer(4 * need.image - 4, "scratch")
    with pytest.raises(KernelShapeError, match=f"at least {need.image:,} elements"):
        _run(device, kernels, problem, small)
    small.destroy()


@pytest.mark.gpu
@pytest.mark.parametrize("half", [False, True])
def test_two_runs_give_the_same_bits(device: Device, half: bool) -> None:
    if half and "shader-f16" not in device.features:
        pytest.skip("the adapter has no shader-f16")
    kernels = ConvKernels(device.caps)
    layers: list[Convolution] = [
        SPLIT,
        ConvProblem((1, 300, 5, 5), (30, 300, 1, 1), has_bias=True),
        ConvProblem((2, 20, 40, 40), (40, 20, 3, 3), pads=(1,) * 4, has_bias=True),
        ConvProblem((2, 20, 40, 40), (40, 20, 1, 1), has_bias=True),
        ConvProblem((1, 3, 33, 35), (16, 3, 3, 3), strides=(2, 2), has_bias=True),
        ConvProblem((1, 9, 21, 23), (9, 1, 5, 5), group=9, pads=(2,) * 4, has_bias=True),
        ConvProblem((1, 130, 1, 1), (7, 130, 1, 1), has_bias=True),
        SCATTER,
    ]
    names = [kernels.describe_variant(layer) for layer in layers]
    assert names.count("split_k") == 2
    assert len(set(names)) == 7
    for layer in layers:
        layer = replace(layer, dtype=FLOAT16) if half else layer
        assert _run(device, kernels, layer, None) == _run(device, kernels, layer, None)


def tiles_of(problem: Convolution, variant: str, deterministic: bool, images: int) -> set[tuple[object, ...]]:
    """The constants of the products that run the problem with scratch for so many images at once."""
    kernels = ConvKernels(variant=variant, deterministic=deterministic)
    recorder = Recorder()
    scratch = recorder.buffer(4 * images * kernels.scratch(problem).image)
    encode = kernels.encode_transpose if isinstance(problem, ConvTransposeProblem) else kernels.encode
    encode(recorder, problem, **_operands(recorder, problem), scratch=scratch)  # type: ignore[arg-type]
    products = [d for d in recorder.finish().dispatches if d.shader.name.startswith("conv_gemm")]
    assert len(products) == -(-problem.x_shape[0] // images)
    return {(d.shader.text, d.label) for d in products}


@pytest.mark.parametrize(
    ("variant", "problem"),
    [
        ("im2col", ConvProblem((8, 64, 28, 28), (64, 64, 3, 3), pads=(1,) * 4)),
        ("gemm_col2im", ConvTransposeProblem((8, 64, 28, 28), (64, 64, 3, 3), strides=(2, 2))),
        ("split_k", ConvProblem((8, 256, 7, 7), (64, 256, 3, 3), pads=(1,) * 4)),
        ("split_k", ConvProblem((8, 256, 7, 7), (64, 256, 3, 3), pads=(1,) * 4, w_constant=True)),
    ],
)
def test_the_whole_batch_decides_how_a_chunk_is_cut(variant: str, problem: Convolution) -> None:
    for images in (1, 3):
        assert tiles_of(problem, variant, True, images) == tiles_of(problem, variant, True, 8)
    assert tiles_of(problem, variant, False, 8) == tiles_of(problem, variant, True, 8)


def test_without_deterministic_a_chunk_takes_the_tile_that_suits_it() -> None:
    problem = ConvProblem((8, 64, 28, 28), (64, 64, 3, 3), pads=(1,) * 4)
    alone = replace(problem, x_shape=(1, *problem.x_shape[1:]))
    assert tiles_of(problem, "im2col", False, 1) == tiles_of(alone, "im2col", True, 1)
    assert tiles_of(problem, "im2col", False, 1) != tiles_of(problem, "im2col", True, 1)


def _operands(recorder: Recorder, problem: Convolution) -> dict[str, object]:
    count = {role: int(np.prod(shape)) for role, shape, _ in problem.operands()}
    return {role: recorder.buffer(4 * n, Role.SCRATCH, role) for role, n in count.items()}


def test_one_buffer_in_two_roles_is_refused() -> None:
    recorder = Recorder()
    operands = _operands(recorder, SPLIT)
    kernels = ConvKernels()
    with pytest.raises(KernelShapeError, match="x and y must be separate buffers"):
        kernels.encode(recorder, SPLIT, **{**operands, "x": operands["y"]})  # type: ignore[arg-type]
    with pytest.raises(KernelShapeError, match="scratch and y must be separate buffers"):
        kernels.encode(recorder, SPLIT, **operands, scratch=operands["y"])  # type: ignore[arg-type]
    assert not recorder.finish().dispatches


def test_operands_must_fit_the_problem() -> None:
    recorder = Recorder()
    operands = _operands(recorder, SPLIT)
    kernels = ConvKernels()
    with pytest.raises(KernelShapeError, match="bias must be given"):
        kernels.encode(recorder, SPLIT, **{**operands, "bias": None})  # type: ignore[arg-type]
    with pytest.raises(KernelShapeError, match="residual must be left out"):
        kernels.encode(recorder, SPLIT, **operands, residual=recorder.buffer(16))  # type: ignore[arg-type]
    with pytest.raises(KernelShapeError, match="w must hold 16,200 elements"):
        kernels.encode(recorder, SPLIT, **{**operands, "w": recorder.buffer(1000)})  # type: ignore[arg-type]
    with pytest.raises(KernelShapeError, match="problem must be a ConvTransposeProblem"):
        kernels.encode_transpose(recorder, SPLIT, **operands)  # type: ignore[arg-type]
    assert not recorder.finish().dispatches


def test_an_input_beyond_one_binding_is_a_clear_error() -> None:
    problem = ConvProblem((1, 3, 4096, 4096), (1, 3, 1, 1), strides=(64, 64))
    recorder = Recorder()
    operands = _operands(recorder, problem)
    with pytest.raises(KernelShapeError, match="conv: x: a buffer must be at most 134,217,728 bytes"):
        ConvKernels().encode(recorder, problem, **operands)  # type: ignore[arg-type]
    with pytest.raises(KernelShapeError, match="conv: x: a buffer must be at most 134,217,728 bytes"):
        CONV.record(recorder, problem, {"x": operands["x"], "w": operands["w"]}, {"y": operands["y"]})  # type: ignore[dict-item]
    assert nothing_recorded(recorder, operands)


def nothing_recorded(recorder: Recorder, operands: dict[str, object]) -> bool:
    """Whether the recorder holds what the caller made and no more."""
    recorder.caps = Caps(replace(recorder.caps.limits, max_buffer_size=2**40, max_storage_buffer_binding_size=2**40))
    plan = recorder.finish()
    return not plan.dispatches and not plan.setup and len(plan.buffers) == len(operands)


LAVISH = Caps(Limits(max_buffer_size=2**33, max_storage_buffer_binding_size=2**33))
TALL = ConvProblem((1, 64, 1500, 1500), (16, 64, 3, 3), pads=(1,) * 4)  # 2 planes or more of 144 MB


@pytest.mark.parametrize("variant", ["split_k", "im2col"])
def test_every_variant_has_the_same_limit_of_scratch(variant: str) -> None:
    assert ConvKernels(LAVISH, variant=variant).scratch(TALL).image > 2**25
    with pytest.raises(KernelShapeError, match=f"variant {variant} does not run this problem: the scratch of one image "
                       "must be at most 33,554,432 float32 elements, got"):  # fmt: skip
        ConvKernels(variant=variant).describe_variant(TALL)
    column = ConvTransposeProblem((1, 64, 500, 500), (64, 16, 3, 3), strides=(3, 3))
    with pytest.raises(KernelShapeError, match="the scratch of one image must be at most 33,554,432"):
        ConvKernels(variant="gemm_col2im").describe_variant(column)


def test_what_a_recorders_device_cannot_do_is_refused_before_anything_is_recorded() -> None:
    half = replace(SPLIT, dtype=FLOAT16, w_constant=True)
    able = Caps(features=frozenset({"shader-f16"}))
    recorder = Recorder()
    operands = _operands(recorder, half)
    with pytest.raises(KernelShapeError, match="float16 needs the device feature shader-f16"):
        ConvKernels(able).encode(recorder, half, **operands)  # type: ignore[arg-type]
    scratch = recorder.buffer(2**27 + 4)
    with pytest.raises(KernelShapeError, match="conv: scratch: a buffer must be at most"):
        ConvKernels(LAVISH).encode(recorder, SPLIT, **operands, scratch=scratch)  # type: ignore[arg-type]
    assert nothing_recorded(recorder, {**operands, "scratch": scratch})
    recorder = Recorder(able)
    with pytest.raises(KernelShapeError, match="float16 needs the device feature shader-f16"):
        ConvKernels().encode(recorder, half, **_operands(recorder, half))  # type: ignore[arg-type]


@pytest.mark.gpu
def test_nan_and_infinity_reach_the_outputs_of_their_windows(device: Device) -> None:
    problem = ConvProblem((1, 5, 6, 7), (4, 5, 3, 3), pads=(1,) * 4, activation=Activation("relu"))
    x = np.ones((1, 5, 6, 7), np.float32)
    x[0, 2, 0, 0], x[0, 3, 5, 6] = np.nan, np.inf
    w = np.ones((4, 5, 3, 3), np.float32)
    for variant in ("plain", "implicit_gemm", "direct", "dot", "im2col"):
        recorder = Recorder(device.caps)
        operands = [recorder.buffer(a.nbytes, Role.INPUT) for a in (x, w)]
        out = np.empty(problem.output_shape, np.float32)
        y = recorder.buffer(out.nbytes, Role.OUTPUT)
        ConvKernels(device.caps, variant=variant).encode(recorder, problem, operands[0], operands[1], y)
        loaded = device.load_sync(recorder.finish())
        loaded.run_sync([x, w], [out])
        loaded.destroy()
        assert np.isnan(out[0, :, :2, :2]).all(), variant
        assert np.isposinf(out[0, :, 4:, 5:]).all(), variant
        assert np.isfinite(out).sum() == out.size - 4 * 8, variant
