"""A browser for the tests that need one, which are skipped by name where it is not there.

`pip install .[browser-tests]` brings Playwright, which drives the Chromium of the system, or that of DSE_CHROMIUM.
axe-core comes by `npm install` into a folder of the tests, or from a path (DSE_AXE names its axe.min.js): its
licence keeps it out of this repository.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

AXE = "axe-core@4"
OF_NO_HARM = ("Failed to load", "Blocked script execution")  # a page of an error; a stored copy, as it shall be


@pytest.fixture(scope="module")
def chromium() -> Iterator[tuple[Any, str]]:
    """Playwright's driver and the path of Chromium; while it is there no other test of this process can run a loop."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("DSE_CHROMIUM") or shutil.which("chromium")
    if not path:
        pytest.skip("Chromium is not installed, and DSE_CHROMIUM names none")
    with driver.sync_playwright() as playwright:
        yield playwright.chromium, path


@pytest.fixture(scope="module")
def browser(chromium: tuple[Any, str]) -> Iterator[Any]:
    """Chromium, without a window."""
    driver, path = chromium
    opened = driver.launch(executable_path=path, args=["--no-sandbox"])
    yield opened
    opened.close()


@pytest.fixture
def tab(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open tabs, each of a browser of its own; what the page's script complains of fails the test."""
    contexts: list[Any] = []
    complaints: list[str] = []

    def is_complaint(said: Any) -> bool:
        return said.type == "error" and not said.text.startswith(OF_NO_HARM)

    def opened(**settings: Any) -> Any:
        contexts.append(browser.new_context(**settings))
        page = contexts[-1].new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda said: complaints.append(said.text) if is_complaint(said) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """axe-core's script."""
    if named := os.environ.get("DSE_AXE"):
        return Path(named).read_text()
    npm = shutil.which("npm")
    if not npm:
        pytest.skip("npm is not installed, and DSE_AXE names no axe.min.js")
    folder = tmp_path_factory.mktemp("axe")
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", AXE]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        pytest.skip(f"npm could not install {AXE}: {done.stderr[-200:]}")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()
