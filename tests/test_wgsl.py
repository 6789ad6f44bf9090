"""Every file of wgsl/ is a shader that naga (wgpu-py) compiles as it lies there, and keeps the house's form."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from onegpu_web import assets, shader
from onegpu_web.testing import shaders

NAMES = shaders.names()

# In a process of its own, since a panic in naga ends Python: the last name printed is then the culprit.
COMPILE = """
import wgpu
from onegpu_web.testing import shaders

adapter = wgpu.gpu.request_adapter_sync()
half = [name for name in ("shader-f16",) if name in adapter.features]
device = adapter.request_device_sync(required_features=half)

def fault(text):
    try:
        module = device.create_shader_module(code=text)
        if "@compute" in text:
            device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
    except (wgpu.GPUError, RuntimeError) as error:
        return str(error)

for name in shaders.names():
    print("COMPILING", name, flush=True)
    faults = [fault(text) for text in shaders.candidates(name)]
    if None not in faults:
        print("FAILED", name, *faults, flush=True)
print("DONE", flush=True)
"""


@pytest.mark.gpu
def test_every_file_compiles_under_naga() -> None:
    root = Path(__file__).resolve().parents[1]
    run = subprocess.run([sys.executable, "-c", COMPILE], capture_output=True, text=True, check=False, cwd=root)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]
    assert run.stdout.endswith("DONE\n"), run.stdout[-2000:]
    assert "FAILED" not in run.stdout, run.stdout
    assert run.stdout.count("COMPILING") == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_form(name: str) -> None:
    text = assets.wgsl(name)
    lines = text.splitlines()
    assert text.startswith("//"), "a header comment says what the file computes"
    assert len(lines) < 250
    assert all("\t" not in line and line == line.rstrip() for line in lines)
    assert text.endswith("\n")
    assert len(re.findall(r"@compute", text)) <= 1
    if "@compute" in text:
        assert re.search(r"\bfn main\(", text), "the entry point is main"


@pytest.mark.parametrize("name", NAMES)
def test_bindings_are_reads_then_writes_then_params(name: str) -> None:
    found = re.findall(r"@group\((\d+)\) @binding\((\d+)\)\s*var<([^>]+)> (\w+)", assets.wgsl(name))
    kinds = [
        {"storage, read": 0, "storage": 0, "storage, read_write": 1, "uniform": 2}[kind] for _, _, kind, _ in found
    ]
    assert [group for group, *_ in found] == ["0"] * len(found)
    assert [int(binding) for _, binding, _, _ in found] == list(range(len(found)))
    assert kinds == sorted(kinds)
    assert len(found) == assets.wgsl(name).count("@binding")
    if "@compute" in assets.wgsl(name):
        assert kinds.count(2) == 1
        assert found[-1][3] == "params"


@pytest.mark.parametrize("name", NAMES)
def test_shaders_build_and_fit_the_default_limits(name: str) -> None:
    built = shader.build(name)
    threads = built.workgroup_size[0] * built.workgroup_size[1] * built.workgroup_size[2]
    assert "//: unroll" not in built.text
    assert built.workgroup_bytes <= 16_384
    assert (0 < threads <= 256) if "@compute" in built.text else threads == 0
