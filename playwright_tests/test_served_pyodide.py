"""The served Pyodide: our wheel by name and by address, nothing from another origin, every module imports."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

START = """async ({packages, source}) => {
  const {loadPyodide} = await import("/pyodide/pyodide.mjs");
  const pyodide = await loadPyodide({indexURL: "/pyodide/"});
  const complaints = [];
  const options = {messageCallback: () => {}, errorCallback: (text) => complaints.push(text)};
  await pyodide.loadPackage(packages, options);
  if (complaints.length > 0) throw new Error(complaints.join("; "));
  return {
    loaded: Object.keys(pyodide.loadedPackages).sort(),
    isolated: crossOriginIsolated,
    result: JSON.parse(await pyodide.runPythonAsync(source)),
  };
}"""

IMPORT_ALL = """
import importlib, json, pkgutil, sys
import onegpu_web
# The command's own script, which would run it.
names = [m.name for m in pkgutil.walk_packages(onegpu_web.__path__, "onegpu_web.") if not m.name.endswith("__main__")]
for name in names:
    importlib.import_module(name)
json.dumps({"modules": names, "wgpu": "wgpu" in sys.modules, "file": onegpu_web.__file__})
"""

INSTALL = """
import json, micropip
await micropip.install({address!r})
import numpy, onegpu_web
json.dumps({{"version": onegpu_web.__version__, "numpy": numpy.__version__}})
"""


@pytest.fixture
def page(new_page: Callable[[str], Page], site: str) -> Page:
    return new_page(f"{site}/harness/host.html")


def test_load_package_by_name_pulls_numpy_and_every_module_imports(page: Page) -> None:
    answer = page.evaluate(START, {"packages": ["onegpu-web"], "source": IMPORT_ALL})
    assert answer["loaded"] == ["numpy", "onegpu-web"]
    assert answer["isolated"]
    assert answer["result"]["wgpu"] is False
    assert "site-packages" in answer["result"]["file"]
    assert {"onegpu_web.device.browser", "onegpu_web.graph.reader"} <= set(answer["result"]["modules"])


def test_micropip_installs_the_wheel_from_its_address(page: Page, site: str, site_folder: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).netloc))
    lock = json.loads((site_folder / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
    ours = lock["packages"]["onegpu-web"]
    source = INSTALL.format(address=f"{site}/pyodide/{ours['file_name']}")
    answer = page.evaluate(START, {"packages": ["micropip"], "source": source})
    assert answer["result"] == {"version": ours["version"], "numpy": lock["packages"]["numpy"]["version"]}
    assert set(asked) == {urlsplit(site).netloc}
