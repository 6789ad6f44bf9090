"""Headless Chromium with WebGPU, and Pyodide in a page or a worker of it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserType, Page

EXECUTABLES = ("chromium-headless-shell", "chromium", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
)
# SwiftShader compiles the zeroing of workgroup arrays unrolled: 640 ms for a tiled product instead of 25.
NO_WORKGROUP_INIT = "--enable-dawn-features=disable_workgroup_init"

GUARD = Path(__file__).parent / "harness" / "guard.js"
# Events of a page reach Playwright while one of its calls waits.
SETTLING_MS = 20
TIMEOUT_MS = 120_000


def launch(chromium: BrowserType, *flags: str) -> Browser:
    """Chromium with FLAGS, or $CHROMIUM_FLAGS instead of them, and `flags`; $CHROMIUM names the executable."""
    executable = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, EXECUTABLES)), None)
    if executable is None:
        pytest.fail("no Chromium found: apt-get install chromium-headless-shell, or name one in $CHROMIUM")
    own = os.environ.get("CHROMIUM_FLAGS")
    base = shlex.split(own) if own is not None else FLAGS
    return chromium.launch(executable_path=executable, headless=True, args=[*base, *flags])


@dataclass
class Faults:
    """What must not happen in a page: warnings and errors on the console, exceptions nobody caught, crashes.

    harness/guard.js puts WGSL warnings and uncaptured GPU errors on the console.
    """

    seen: list[str] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)

    def watch(self, page: Page) -> Page:
        """Watch `page` from now on."""
        page.set_default_timeout(TIMEOUT_MS)
        page.add_init_script(path=GUARD)
        self.pages.append(page)
        page.on("console", lambda m: m.type in ("warning", "error") and self.seen.append(f"{m.type}: {m.text}"))
        page.on("pageerror", lambda error: self.seen.append(f"pageerror: {error}"))
        page.on("crash", lambda _: self.seen.append("the page crashed"))
        return page

    def take(self) -> list[str]:
        """The faults so far; a test that takes them expects them."""
        for page in self.pages:
            if not page.is_closed():
                page.wait_for_timeout(SETTLING_MS)
        seen, self.seen = self.seen, []
        return seen


class PythonError(Exception):
    """Python code in the browser raised; the message is its traceback."""


class Python:
    """Pyodide with the package installed from the served wheel; call it with code and JSON arguments."""

    def __init__(self, page: Page, address: str, where: str = "worker", jspi: bool = True) -> None:
        """Start it in a `worker` or the `page` itself. address: of harness/host.html."""
        self.page, self.where, self.jspi = page, where, jspi
        page.goto(address)
        page.evaluate("options => startPython(options)", {"where": where, "jspi": jspi})

    def __call__(self, code: str, **args: Any) -> Any:
        """Run `code`, the body of an async function with `args`, and give what it returns."""
        text = self.page.evaluate(
            "([code, args]) => runPython(code, args)", [textwrap.dedent(code).strip("\n"), json.dumps(args)]
        )
        answer = json.loads(text)
        if "error" in answer:
            raise PythonError(answer["error"])
        return answer["result"]
