"""Keeps a process alive beside the crawl that the crawl does not depend on."""

import subprocess
import time

# A short crawl ends without it, and a process that fails is not started again at once.
FIRST_AFTER = 30.0
AGAIN_AFTER = 60.0


class Companion:
    """A process that ends when its standard input does, so that it never outlives the crawl, however that ends."""

    def __init__(self, command: list[str], wanted: bool) -> None:
        self._command = command
        self._not_before = time.monotonic() + FIRST_AFTER if wanted else float("inf")
        self._process: subprocess.Popen[bytes] | None = None

    def step(self) -> str:
        """To be called now and then: starts it when it is time; returns why it ended, when it did."""
        if self._process is None:
            if time.monotonic() >= self._not_before:
                self._process = subprocess.Popen(
                    self._command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
                )
            return ""
        if self._process.poll() is None:
            return ""
        _, errors = self._process.communicate()
        code, self._process = self._process.returncode, None
        self._not_before = time.monotonic() + AGAIN_AFTER
        return errors.decode(errors="replace").strip().rpartition("\n")[2] or f"it ended with code {code}"

    def dismiss(self) -> None:
        """Tells it to finish what it is at; `close` does not wait for that."""
        self._not_before = float("inf")
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    def close(self) -> None:
        if self._process is not None:
            self.dismiss()
            self._process.kill()
            self._process.stdin = None  # closed already: communicate would flush it
            self._process.communicate()
            self._process = None
