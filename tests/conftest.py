"""A real Chromium where there is one, and the checker of accessibility that runs in it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a process."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("There is no Chromium here; on Debian `apt-get install -y chromium` installs one")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that has been nowhere yet."""
    made = browser.new_context(viewport={"width": 1100, "height": 800})
    made.set_default_timeout(10_000)
    yield made
    made.close()


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("There is no npm to fetch axe-core with")
    folder = tmp_path_factory.mktemp("axe")
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "axe-core@4"]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
    except (subprocess.SubprocessError, OSError) as exc:
        pytest.skip(f"axe-core cannot be had from npm: {exc}")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _not_on_github(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tests gate is not the build that they run in."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
