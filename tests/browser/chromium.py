"""A real Chromium, spoken to over its debugging pipe: what a person does to a page, and what it looks like then."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 60.0
_FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
)  # fmt: skip

# It reads from descriptor 3 and writes to 4.
_CONNECT = """import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for number, end in enumerate(ends, 3):
    os.dup2(end, number)
os.execv(sys.argv[3], sys.argv[3:])"""


def installed() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One page in one browser."""

    def __init__(self, into: int, out: int) -> None:
        self._into, self._out = into, out
        self._buffer = b""
        self._last = 0
        self._session = ""
        self.said: list[str] = []  # what the console complained about, and exceptions of scripts

    def open(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """One command of the DevTools protocol, and its result."""
        self._last += 1
        message: dict[str, object] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._into, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            heard = self._hear(deadline)
            if heard.get("id") == self._last:
                assert "error" not in heard, (method, heard["error"])
                result: dict[str, Any] = heard["result"]
                return result
            self._note(heard)

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def go(self, url: str) -> None:
        said = self.call("Page.navigate", url=url)
        assert "errorText" not in said, said
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def until(self, condition: str) -> Any:
        """Waits until an expression is true, whatever page is there by then."""
        deadline = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(AssertionError):  # between two pages there is none to ask
                if (found := self.run(condition)) not in (None, False):  # an element is an empty object here
                    return found
            assert time.monotonic() < deadline, f"never came true: {condition}\n{self.text()[:2000]}"
            time.sleep(0.05)

    def text(self) -> str:
        return str(self.run("document.body.innerText"))

    def fill(self, selector: str, value: str) -> None:
        """Types into a field, key events and all."""
        self.run(f"document.querySelector({selector!r}).focus(); document.querySelector({selector!r}).select?.()")
        self.call("Input.insertText", text=value)

    def click(self, selector: str, text: str = "") -> None:
        """Clicks with the mouse in the middle of an element (that says `text`), wherever it is."""
        place = self.until(
            f"(() => {{ const e = [...document.querySelectorAll({selector!r})].find(e => e.innerText.includes({text!r}));"
            "if (!e) return null; e.scrollIntoView({block: 'center'}); const b = e.getClientRects()[0];"
            "return b && [b.x + b.width / 2, b.y + b.height / 2] })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1
            )  # fmt: skip

    def look(self, width: int = 1200, height: int = 800, dark: bool = False) -> None:
        """The size of the window, and whether the system is dark."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, whole: bool = False) -> bytes:
        """The window as a PNG; the `whole` page however long it is."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(shot["data"])

    def _hear(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._out], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            data = os.read(self._out, 1 << 20)
            assert data, "the browser has ended"
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        heard: dict[str, Any] = json.loads(message)
        return heard

    def _note(self, heard: dict[str, Any]) -> None:
        details = heard.get("params", {})
        if heard.get("method") == "Runtime.exceptionThrown":
            self.said.append(str(details["exceptionDetails"]))
        elif heard.get("method") == "Log.entryAdded" and details["entry"]["level"] == "error":
            self.said.append(f"{details['entry']['text']} {details['entry'].get('url', '')}")


@contextmanager
def chromium() -> Iterator[Browser]:
    program = installed()
    assert program, "there is no Chromium: apt-get install chromium"
    (their_in, our_out), (our_in, their_out) = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as home:
        flags = [*_FLAGS, f"--user-data-dir={home}", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        command = [sys.executable, "-c", _CONNECT, str(their_in), str(their_out), program, *flags]
        process = subprocess.Popen(
            command, pass_fds=(their_in, their_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": home},
        )  # fmt: skip
        os.close(their_in)
        os.close(their_out)
        try:
            browser = Browser(our_out, our_in)
            browser.open()
            yield browser
        finally:
            os.close(our_out)
            os.close(our_in)
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def write(path: Path, picture: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(picture)
