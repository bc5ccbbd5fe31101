"""Chromium for tests: open a page, run scripts in it, press keys, take pictures.

Speaks the DevTools protocol over two pipes (``--remote-debugging-pipe``), so it needs no package.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
REQUIRED = os.environ.get("PRUNEDBPE_BROWSER") == "required"
"""Whether a missing browser is a failure instead of a skip."""

_OPTIONS = (
    "--headless",
    "--no-sandbox",  # as root, in containers
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--remote-debugging-pipe",
)
_PATIENCE = 60.0  # seconds until a page must have done what a test waits for


class Page:
    """One tab.

    Attributes:
        problems: Messages of the console, exceptions, and requests that left the file.
    """

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._rest = b""
        self._last = 0
        self._session: str | None = None
        self.problems: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a file anew and wait until it is loaded."""
        self._call("Page.navigate", url="about:blank")
        self._call("Page.navigate", url=f"{path.resolve().as_uri()}{fragment}")
        self.wait("document.readyState === 'complete'")

    def look(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Choose the size of the window, and light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])

    def run(self, script: str) -> Any:
        """Evaluate an expression in the page, which may be a promise."""
        done = self._call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in done:
            raise AssertionError(done["exceptionDetails"])
        return done["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + _PATIENCE
        while not self.run(condition):
            if time.monotonic() > end:
                raise AssertionError(f"never true: {condition}; {self.problems}")
            time.sleep(0.02)

    def press(self, *keys: str) -> None:
        """Press keys one after the other, by name: Tab, Enter, ArrowRight, Escape."""
        for key in keys:
            event = {"key": key, "code": key, "windowsVirtualKeyCode": _KEY_CODES.get(key, 0)}
            if key == "Enter":
                event["text"] = "\r"
            self._call("Input.dispatchKeyEvent", type="keyDown", **event)
            self._call("Input.dispatchKeyEvent", type="keyUp", **event)

    def write(self, text: str) -> None:
        """Insert text where the focus is."""
        self._call("Input.insertText", text=text)

    def point(self, selector: str) -> None:
        """Move the pointer over an element."""
        where = self.run(
            f"(() => {{ const box = document.querySelector({json.dumps(selector)})"
            ".getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=where[0], y=where[1])

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """Save what the page looks like as PNG."""
        taken = self._call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(taken["data"]))

    def download_to(self, folder: Path) -> None:
        """Save downloads into a folder."""
        self.folder = folder
        session, self._session = self._session, None
        self._call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        self._session = session

    def _call(self, method: str, **parameters: Any) -> Any:
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:  # a pipe takes what it has room for
            data = data[os.write(self._commands, data) :]
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer.get("method"), answer.get("params", {}))

    def _read(self) -> Any:
        while b"\0" not in self._rest:
            data = os.read(self._answers, 1 << 20)
            if not data:
                raise AssertionError("the browser has ended")
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _note(self, event: str | None, about: Any) -> None:
        if event == "Runtime.exceptionThrown":
            self.problems.append(str(about["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled":
            self.problems.append(str(about["args"]))
        elif event == "Log.entryAdded":
            self.problems.append(about["entry"]["text"])
        elif event == "Network.requestWillBeSent":
            url = about["request"]["url"]
            if not url.startswith(("file:", "data:", "blob:", "about:")):
                self.problems.append(f"requested {url}")


_KEY_CODES = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36}
_KEY_CODES |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


# Chromium reads commands from descriptor 3 and answers on 4. The pipes may have these very numbers.
_CONNECT = """
import fcntl, os, sys
commands, answers = (fcntl.fcntl(int(fd), fcntl.F_DUPFD, 100) for fd in sys.argv[1:3])
os.dup2(commands, 3)
os.dup2(answers, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


@contextmanager
def open_browser(folder: Path) -> Iterator[Page]:
    """Run Chromium with a profile of its own in a folder.

    Raises:
        AssertionError: It does not start or ends early.
    """
    (ours, theirs), (answers, their_answers) = os.pipe()[::-1], os.pipe()
    log = folder / "chromium.log"

    program = [sys.executable, "-c", _CONNECT, str(theirs), str(their_answers)]
    profile = f"--user-data-dir={folder / 'profile'}"
    with log.open("wb") as messages:
        process = subprocess.Popen(
            [*program, BROWSER or "/usr/bin/chromium", *_OPTIONS, profile],
            stdin=subprocess.DEVNULL,
            stdout=messages,
            stderr=messages,
            pass_fds=(theirs, their_answers),
        )
    os.close(theirs)
    os.close(their_answers)
    try:
        yield Page(ours, answers)
    finally:
        os.close(ours)
        os.close(answers)
        process.terminate()
        process.wait(timeout=20)
