"""Tests that cause one fault each and otherwise pass. pytest does not collect them by itself: test_harness.py runs
them, and each must fail.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

HEAD = "const adapter = await navigator.gpu.requestAdapter(); const device = await adapter.requestDevice();"
FAULTS = {
    "wgsl_warning": HEAD
    + "const code = '@compute @workgroup_size(1) fn main() { return; var x = 1; }';"
    + "await device.createShaderModule({ code }).getCompilationInfo();",
    "uncaptured_error": HEAD
    + "device.createBuffer({ size: 1 << 10, usage: 0xffff });"
    + "await device.queue.onSubmittedWorkDone();",
    "console_error": "console.error('told');",
    "console_warning": "console.warn('told');",
    "page_error": "setTimeout(() => { throw new Error('thrown'); });",
}
IN_WORKER = """
(body) => new Promise((resolve) => {
  const guard = new URL("/harness/guard.js", location.href);
  const text = `import "${guard}"; (async () => { ${body} })().then(() => postMessage(null));`;
  const worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })), { type: "module" });
  worker.onmessage = resolve;
})
"""


@pytest.mark.parametrize("where", ["page", "worker"])
@pytest.mark.parametrize("fault", FAULTS)
def test_fault(new_page: Callable[[str], Page], site: str, where: str, fault: str) -> None:
    page = new_page(f"{site}/harness/host.html")
    if where == "page":
        page.evaluate(f"async () => {{ {FAULTS[fault]} }}")
    else:
        page.evaluate(IN_WORKER, FAULTS[fault])


def test_no_fault(new_page: Callable[[str], Page], site: str) -> None:
    new_page(f"{site}/harness/host.html").evaluate("async () => { console.log('all is well'); }")
