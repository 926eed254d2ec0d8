"""Take the pictures of the report that the documentation shows: `python -m tests.reports.screenshots`."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tests.conftest import FLAGS
from tests.reports.shop import shop_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FOLDER = Path(__file__).parents[2] / "docs" / "how-to"
SIZE = (1200, 800)
PICTURES = ("report-light.png", "report-dark.png")


def taken(browser: Browser, page_file: Path) -> dict[str, bytes]:
    """The verdict in light, and a query that got worse in the dark."""
    light, dark = PICTURES
    return {
        light: _picture(browser, page_file, "light", query=""),
        dark: _picture(browser, page_file, "dark", query="pay by purchase order"),
    }


def _picture(browser: Browser, page_file: Path, scheme: Literal["light", "dark"], *, query: str) -> bytes:
    width, height = SIZE
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height})
    page = context.new_page()
    page.goto(page_file.as_uri())
    if query:
        page.locator("summary", has_text=query).click()
        page.locator(".more").wait_for()
        page.evaluate("document.querySelector('#list').scrollIntoView()")
    picture: bytes = page.screenshot()
    context.close()
    return picture


def main() -> None:
    """Write the pictures anew."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, picture in taken(browser, shop_page(Path(folder))).items():
            (FOLDER / name).write_bytes(picture)
        browser.close()


if __name__ == "__main__":
    main()
