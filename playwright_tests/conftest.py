"""Fixtures of the browser tests.

A module asks for `python` (a worker) or for `start_python`; the page is made once per module,
since Pyodide takes seconds to start. Any fault in a watched page fails the test that ran
meanwhile, unless the test takes it as expected (`faults.take()`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from onegpu_web.fetch.site import build_site, serve
from onegpu_web.fetch.wheel import pack_testing

from .browser import NO_WORKGROUP_INIT, Faults, Python, launch

HARNESS = Path(__file__).parent / "harness"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make demo` serves it, or $ONEGPU_SITE, a folder of one that was built before; and the harness."""
    folder = tmp_path_factory.mktemp("site")
    ready = os.environ.get("ONEGPU_SITE")
    if ready:
        shutil.copytree(ready, folder, dirs_exist_ok=True)
    else:
        build_site(folder)
    shutil.copytree(HARNESS, folder / "harness", dirs_exist_ok=True)
    pack_testing(folder / "harness" / "testing.zip")  # host.js unpacks it into the package
    for worker in folder.glob("*_worker.js"):  # where no init script of Playwright runs
        worker.write_text('import "/harness/guard.js";\n' + worker.read_text(encoding="utf-8"), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def site(site_folder: Path) -> Iterator[str]:
    """The address of the served site, without a slash at its end."""
    with serve(site_folder, 0) as server:
        yield server.url


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Chromium that does not zero workgroup memory, which also shows kernels that count on zeros."""
    started = launch(playwright.chromium, NO_WORKGROUP_INIT)
    yield started
    started.close()


@pytest.fixture(scope="session")
def all_faults() -> Faults:
    return Faults()


@pytest.fixture(autouse=True)
def faults(all_faults: Faults) -> Iterator[Faults]:
    """The faults of all watched pages; those that nobody took fail the test."""
    yield all_faults
    seen = all_faults.take()
    if seen:
        pytest.fail("faults in the browser:\n" + "\n".join(seen), pytrace=False)


@pytest.fixture(scope="module")
def new_page(browser: Browser, all_faults: Faults) -> Iterator[Callable[[str], Page]]:
    """Opens watched pages that close at the module's end."""
    pages: list[Page] = []

    def open_page(address: str) -> Page:
        page = browser.new_page()
        pages.append(page)
        all_faults.watch(page).goto(address)
        return page

    yield open_page
    for page in pages:
        page.close()


@pytest.fixture(scope="module")
def start_python(new_page: Callable[[str], Page], site: str) -> Callable[..., Python]:
    """Pyodide in a `worker` or a `page`, with or without JSPI; one each per module."""
    started: dict[tuple[str, bool], Python] = {}

    def start(where: str = "worker", jspi: bool = True) -> Python:
        if (where, jspi) not in started:
            started[where, jspi] = Python(new_page("about:blank"), f"{site}/harness/host.html", where, jspi)
        return started[where, jspi]

    return start


@pytest.fixture(scope="module")
def python(start_python: Callable[..., Python]) -> Python:
    """Pyodide in a module worker."""
    return start_python()
