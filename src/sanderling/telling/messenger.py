"""Starts, watches and ends the process that delivers to webhooks beside a crawl (`telling/delivery.py`).

That process only reads the store and writes its own records, so that no endpoint can disturb the crawl. It ends
when its standard input is closed. So it also ends when the crawl was killed.
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

RESTART_SECONDS = 10.0  # before a messenger that died is replaced


class Messenger:
    """Runs the delivery process of a crawl. Without webhooks it does nothing."""

    def __init__(self, folder: Folder, settings: Settings, newest: int) -> None:
        """Enrols each new webhook: it receives the versions after `newest`. Call this before the first commit."""
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
        """Returns messages for the user, and restarts the process if it died. To be called now and then."""
        notices = self._listen()
        if self._process is not None and self._process.poll() is not None:
            self.finish(0.0)
            self._not_before = time.monotonic() + RESTART_SECONDS
        if self._process is None and self._settings.webhook and time.monotonic() >= self._not_before:
            self.start()
        return notices

    def close(self) -> None:
        self.finish(0.0)

    def finish(self, patience: float) -> list[str]:
        """Gives the process `patience` seconds to deliver what is left, then ends it."""
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
