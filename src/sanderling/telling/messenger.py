"""The process beside a crawl that tells webhooks (`telling/delivery.py`): started, listened to and ended from here.

It only reads the store and keeps its own records, so nothing that an endpoint does reaches the crawl. Its standard
input is its life line: it ends when that does, however the crawl ended.
"""

import contextlib
import os
import subprocess
import time

import msgspec

from sanderling.processes import entry_points
from sanderling.repository.folder import Folder
from sanderling.settings import Settings
from sanderling.telling import record
from sanderling.telling.secret import secret_of

# A messenger that died is replaced, but not at once.
RESTART = 10.0


class Messenger:
    """Tells the webhooks of a crawl, if it has any."""

    def __init__(self, folder: Folder, settings: Settings, newest: int) -> None:
        """Before anything is committed each webhook that is new is enrolled: what comes after `newest` is for it."""
        self._settings = settings
        self._command = entry_points.command("deliver", folder.path)
        self._process: subprocess.Popen[bytes] | None = None
        self._heard = b""
        self._not_before = 0.0
        for webhook in settings.webhook:
            secret_of(webhook, folder.path)
            record.enrol(folder.webhooks, webhook.url, newest)

    def start(self) -> None:
        if not self._settings.webhook:
            return
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin and self._process.stdout
        os.set_blocking(self._process.stdout.fileno(), False)
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(msgspec.json.encode(self._settings) + b"\n")
            self._process.stdin.flush()

    def step(self) -> list[str]:
        """To be called now and then: what the user should know."""
        notices = self._listen()
        if self._process is not None and self._process.poll() is not None:
            self.finish(0.0)
            self._not_before = time.monotonic() + RESTART
        if self._process is None and self._settings.webhook and time.monotonic() >= self._not_before:
            self.start()
        return notices

    def close(self) -> None:
        self.finish(0.0)

    def finish(self, patience: float) -> list[str]:
        """Lets it deliver what is left, and ends it."""
        process, self._process = self._process, None
        if process is None:
            return []
        assert process.stdin and process.stdout
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        notices = self._listen(process)
        process.stdout.close()
        return notices

    def _listen(self, process: "subprocess.Popen[bytes] | None" = None) -> list[str]:
        process = process or self._process
        if process is None or process.stdout is None:
            return []
        self._heard += process.stdout.read() or b""
        *lines, self._heard = self._heard.split(b"\n")
        return [line.decode("utf-8", "replace") for line in lines]
