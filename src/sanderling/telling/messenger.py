"""Starts, watches and ends the process that delivers to webhooks beside a crawl
(`telling/delivery.py`).

That process only reads the store and writes its own records, so that no endpoint can disturb the
crawl. It ends when its standard input is closed. So it also ends when the crawl was killed.
"""

import time

import msgspec

from sanderling.processes import entry_points
from sanderling.processes.child import Child
from sanderling.repository.folder import Folder
from sanderling.settings import Settings

RESTART_SECONDS = 10.0  # before a messenger that died is replaced


class Messenger:
    """Runs the delivery process of a crawl. Without webhooks it does nothing."""

    def __init__(self, folder: Folder, settings: Settings, newest: int) -> None:
        """Enrols each new webhook: it receives the versions after `newest`. Call this before the
        first commit."""
        self._settings = settings
        self._command = entry_points.command("deliver", folder.path)
        self._child: Child | None = None
        self._not_before = 0.0
        if settings.webhook:
            _enrol(settings, folder, newest)

    def start(self) -> None:
        if self._settings.webhook:
            self._child = Child(self._command, lifeline=True, tells=True, complains=False)
            self._child.send(msgspec.json.encode(self._settings))

    def step(self) -> list[str]:
        """Returns messages for the user, and restarts the process if it died. To be called now and
        then."""
        notices = self._child.told() if self._child is not None else []
        if self._child is not None and self._child.code is not None:
            notices += self.finish(0.0)
            self._not_before = time.monotonic() + RESTART_SECONDS
        if self._child is None and time.monotonic() >= self._not_before:
            self.start()
        return notices

    def close(self) -> None:
        self.finish(0.0)

    def finish(self, patience: float) -> list[str]:
        """Gives the process `patience` seconds to deliver what is left, then ends it; returns its
        last messages."""
        child, self._child = self._child, None
        if child is None:
            return []
        child.end(patience)
        notices = child.told()
        child.close()
        return notices


def _enrol(settings: Settings, folder: Folder, newest: int) -> None:
    from sanderling.telling import record  # late: most crawls have no webhooks, and start faster
    from sanderling.telling.secret import secret_of

    for webhook in settings.webhook:
        secret_of(webhook, folder.path)
        record.enrol(folder.webhooks, webhook.url, newest)
