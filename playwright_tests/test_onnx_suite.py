"""The onnx package's suites of windows, resizing and their relatives, run by sessions in Chromium."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import pytest
from onnx_suite import SuiteCase, assert_outputs, refusal, supported_cases

from onegpu_web.testing.packing import pack, unpack

from .browser import Python

OPERATORS = (
    *("Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool", "GlobalMaxPool", "GlobalAveragePool"),
    *("MaxUnpool", "Resize", "Upsample", "GridSample", "Pad", "Col2Im", "DepthToSpace", "SpaceToDepth"),
)
# How many cases of its own each operator has in onnx 1.22 and 1.23, so that none is lost unseen; of Resize's 39 the two
# of OTHER_LENGTHS are left out.
LEAST_CASES = {
    **{"Conv": 32, "ConvTranspose": 13, "MaxPool": 27, "AveragePool": 27, "LpPool": 8, "GlobalMaxPool": 2},
    **{"GlobalAveragePool": 2, "MaxUnpool": 2, "Resize": 37, "Upsample": 1, "GridSample": 18, "Pad": 10, "Col2Im": 5},
    **{"DepthToSpace": 2, "SpaceToDepth": 2},
}
HALF = "float16 on a device without shader-f16"
# Whole attentions and recurrent steps that have a Pad or a Conv among their nodes; no case of an operator alone.
REFUSED = {
    "test_attention_4d_padded_kv_bf16_expanded": "elements of BFLOAT16",
    "test_attention_4d_causal_padded_kv_bf16_expanded": "elements of BFLOAT16",
    "test_attention_24_qk_matmul_output_mode3_softmax_precision_expanded": HALF,
    "test_attention_local_window_ext_cache_float16_mask_expanded": "pads that hang on values",
    "test_attention_local_window_gqa_rank4_mask_expanded": "float64 in between",
    "test_causal_conv_with_state_fp16_expanded": HALF,
    "test_causal_conv_with_state_silu_fp16_expanded": HALF,
}

RUN_CASES = """
import base64
from onegpu_web import InferenceSession
from onegpu_web.device import request_device
from onegpu_web.errors import FeedError, KernelShapeError, UnsupportedError
from onegpu_web.testing.packing import pack, unpack

async def run(model, inputs):
    try:
        session = await InferenceSession.create(model, device=device)
    except (FeedError, KernelShapeError, UnsupportedError) as error:
        return {"refused": str(error)}
    try:
        names = [info.name for info in session.get_inputs()]
        feeds = dict(zip(names, map(unpack, inputs), strict=False))
        return {"outputs": [pack(array) for array in await session.run(None, feeds)]}
    except (FeedError, KernelShapeError, UnsupportedError) as error:
        return {"refused": str(error)}
    finally:
        session.destroy()

device = await request_device(limits={})
try:
    answers = [[await run(base64.b64decode(model), inputs) for inputs in sets] for model, sets in cases]
    return {"answers": answers, "half": "shader-f16" in device.features, "messages": device.messages}
finally:
    device.destroy()
"""


@pytest.mark.parametrize("operator", OPERATORS)
def test_suite_cases_agree(python: Python, operator: str) -> None:
    cases = [case for case in supported_cases() if operator in case.operators]
    assert len(cases) >= LEAST_CASES.get(operator, 1)
    outcome = python(RUN_CASES, cases=[_packed(case) for case in cases])
    assert not outcome["messages"]
    failures = []
    for case, answers in zip(cases, outcome["answers"], strict=True):
        try:
            _check(case, answers, outcome["half"])
        except AssertionError as error:
            failures.append(f"{case.name}: {str(error).strip()[:400]}")
    assert not failures, f"{len(failures)} of {len(cases)}:\n" + "\n".join(failures)


def _check(case: SuiteCase, answers: Sequence[dict[str, Any]], half: bool) -> None:
    """A case that has a reason must be refused, any other must give its outputs."""
    reason = refusal(case)
    if reason is None and not half and "FLOAT16" in case.element_types:
        reason = HALF
    assert reason == REFUSED.get(case.name) or (half and reason is None)
    for (_, outputs), answer in zip(case.data_sets, answers, strict=True):
        assert ("refused" in answer) == (reason is not None), f"to be refused: {reason}; got {answer.get('refused')}"
        if reason is None:
            assert_outputs(case, [unpack(text) for text in answer["outputs"]], outputs)


def _packed(case: SuiteCase) -> tuple[str, list[list[str]]]:
    """The model and the inputs of each data set."""
    model = base64.b64encode(case.model.SerializeToString()).decode()
    return model, [[pack(array) for array in inputs] for inputs, _ in case.data_sets]
