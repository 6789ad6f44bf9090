"""Every file of wgsl/ compiles under Tint, Chromium's compiler, without a message."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

from onegpu_web.testing import shaders

from .browser import Faults

# The messages of each text, none for those that compile without. Tint finds all it finds while it makes the module;
# the pipelines, which take SwiftShader seconds, are made by test_kernels.py.
COMPILE = """
async (texts) => {
  const adapter = await navigator.gpu.requestAdapter();
  const requiredFeatures = ["shader-f16"].filter((name) => adapter.features.has(name));
  const device = await adapter.requestDevice({ requiredFeatures });
  device.pushErrorScope("validation");
  const modules = texts.map((code) => device.createShaderModule({ code }));
  const infos = await Promise.all(modules.map((module) => module.getCompilationInfo()));
  const found = infos.map(({ messages }) => messages.map((m) => `${m.type} ${m.lineNum}:${m.linePos} ${m.message}`));
  await device.popErrorScope();
  device.destroy();
  return found;
}
"""


def test_every_file_compiles_under_tint(new_page: Callable[[str], Page], site: str) -> None:
    page = new_page(f"{site}/harness/host.html")
    texts = [(name, text) for name in shaders.names() for text in shaders.candidates(name)]
    messages = page.evaluate(COMPILE, [text for _, text in texts])
    clean = {name for (name, _), found in zip(texts, messages, strict=True) if not found}
    faulty = {name: found for (name, _), found in zip(texts, messages, strict=True) if name not in clean}
    assert not faulty
    assert clean == set(shaders.names())


def test_what_naga_takes_and_tint_does_not_is_seen(new_page: Callable[[str], Page], site: str, faults: Faults) -> None:
    text = """
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  if (x[i] > 0u) { workgroupBarrier(); }
}
"""
    page = new_page(f"{site}/harness/host.html")
    ((message, *_),) = page.evaluate(COMPILE, [text])
    assert "uniform control flow" in message
    assert faults.take()
