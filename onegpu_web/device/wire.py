"""A plan as it crosses to web/replay_plan.js: once, as JSON and the bytes of one uniform buffer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..plan import Dispatch, Plan, Role
from ..shader import Shader


def encode(plan: Plan, alignment: int) -> tuple[str, bytes, bytes]:
    """The plan's JSON (a WirePlan, see web/replay_plan.js), its uniform buffer and its constants' bytes.

    alignment: of a uniform binding's offset on the device. Externals are numbered in the order of
    `plan.externals`; each distinct shader is there once.
    """
    shaders: dict[tuple[Shader, int, int], int] = {}
    params = bytearray()
    constants = bytearray()
    wire = {
        "buffers": _buffers(plan),
        "setup": _dispatches(plan.setup, shaders, params, alignment),
        "dispatches": _dispatches(plan.dispatches, shaders, params, alignment),
        "constants": _constants(plan, constants),
        "uploads": [(transfer.slot, transfer.size_bytes) for transfer in plan.uploads],
        "readbacks": [(transfer.slot, transfer.size_bytes) for transfer in plan.readbacks],
        "shaders": [
            {"name": shader.name, "text": shader.text, "reads": reads, "writes": writes}
            for shader, reads, writes in shaders
        ],
    }
    return json.dumps(wire, separators=(",", ":")), bytes(params), bytes(constants)


def _buffers(plan: Plan) -> list[dict[str, Any]]:
    order = {slot: index for index, slot in enumerate(plan.externals)}
    return [
        {
            "size": buffer.size_bytes,
            "label": buffer.label,
            "external": order[buffer.slot] if buffer.role is Role.EXTERNAL else -1,
        }
        for buffer in plan.buffers
    ]


def _constants(plan: Plan, data: bytearray) -> list[tuple[int, int, int]]:
    """Slot, offset and size of each constant, padded to whole words; their bytes are appended to `data`."""
    encoded = []
    for slot, content in plan.constants.items():
        padded = content.ljust(-(-len(content) // 4) * 4, b"\0")
        encoded.append((slot, len(data), len(padded)))
        data.extend(padded)
    return encoded


def _dispatches(
    dispatches: Sequence[Dispatch], shaders: dict[tuple[Shader, int, int], int], params: bytearray, alignment: int
) -> list[dict[str, Any]]:
    """The dispatches as dicts; their shaders and params are appended to `shaders` and `params`."""
    encoded = []
    for dispatch in dispatches:
        key = (dispatch.shader, len(dispatch.reads), len(dispatch.writes))
        params.extend(bytes(-len(params) % alignment))
        offset = len(params)
        params.extend(dispatch.params)
        encoded.append(
            {
                "shader": shaders.setdefault(key, len(shaders)),
                "slots": dispatch.reads + dispatch.writes,
                "params": (offset, len(dispatch.params)),
                "workgroups": dispatch.workgroups,
                "label": dispatch.label,
            }
        )
    return encoded
