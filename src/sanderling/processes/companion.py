"""Keeps a process alive beside the crawl that the crawl does not depend on."""

import time

from sanderling.processes.child import Child

# A short crawl ends without it, and a process that fails is not started again at once.
FIRST_AFTER = 30.0
AGAIN_AFTER = 60.0


class Companion:
    """A process that ends when its standard input does, so that it never outlives the crawl,
    however that ends."""

    def __init__(self, command: list[str], wanted: bool) -> None:
        self._command = command
        self._not_before = time.monotonic() + FIRST_AFTER if wanted else float("inf")
        self._child: Child | None = None

    def step(self) -> str:
        """To be called now and then: starts it when it is time; returns why it ended, when it
        did."""
        if self._child is None:
            if time.monotonic() >= self._not_before:
                self._child = Child(self._command, lifeline=True)
            return ""
        if (code := self._child.code) is None:
            return ""
        said = self._child.complaint() or f"it ended with code {code}"
        self.close()
        self._not_before = time.monotonic() + AGAIN_AFTER
        return said

    def dismiss(self) -> None:
        """Tells it to finish what it is at; `close` does not wait for that."""
        self._not_before = float("inf")
        if self._child is not None:
            self._child.let_go()

    def close(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None
