"""What the tests of the explorer share: how to open one of its pages, and what it shows."""

from __future__ import annotations

import json
from pathlib import Path

from chromium import Page


def show(browser: Page, path: Path, fragment: str = "", *, width: int = 1400, dark: bool = False):
    """Open a page and wait until it has unpacked its contents."""
    browser.problems.clear()
    browser.look(width, dark=dark)
    browser.open(path, fragment)
    browser.wait("globalThis.explorer !== undefined")


def text_of(browser: Page, selector: str) -> str:
    return browser.run(f"document.querySelector({json.dumps(selector)}).textContent")


def figure(browser: Page, selector: str) -> int:
    return int(text_of(browser, selector).replace(",", ""))
