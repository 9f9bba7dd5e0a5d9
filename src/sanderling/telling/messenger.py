"""Starts, watches and ends the process that delivers changes beside a crawl
(`telling/delivery.py`).

That process only reads the store and writes its own records, so that no endpoint can disturb the
crawl. It ends when its standard input is closed. So it also ends when the crawl was killed.
"""

import time

import msgspec

from sanderling import credentials
from sanderling.processes import entry_points
from sanderling.processes.child import Child
from sanderling.repository.folder import Folder
from sanderling.settings import Settings

RESTART_SECONDS = 10.0  # before a messenger that died is replaced


class Messenger:
    """Runs the delivery process of a crawl. Without anybody to tell it does nothing."""

    def __init__(self, folder: Folder, settings: Settings, newest: int) -> None:
        """Enrols each new webhook and address: it receives the versions after `newest`. Call this
        before the first commit."""
        self._settings = settings
        self._command = entry_points.command("deliver", folder.path)
        self._child: Child | None = None
        self._not_before = 0.0
        self._anybody = bool(settings.webhook or settings.notify or any(each.notify for each in settings.watch))
        if self._anybody:
            _enrol(settings, folder, newest)

    def start(self) -> None:
        if self._anybody:
            self._child = Child(self._command, lifeline=True, tells=True, complains=False)
            self._child.send(msgspec.json.encode(self._settings))

    def step(self) -> list[str]:
        """Returns messages for the user, and restarts the process if it died. To be called now and
        then."""
        messages = self._child.told() if self._child is not None else []
        if self._child is not None and self._child.code is not None:
            messages += self.finish(0.0)
            self._not_before = time.monotonic() + RESTART_SECONDS
        if self._child is None and time.monotonic() >= self._not_before:
            self.start()
        return messages

    def close(self) -> None:
        self.finish(0.0)

    def finish(self, patience: float) -> list[str]:
        """Gives the process `patience` seconds to deliver what is left, then ends it; returns its
        last messages."""
        child, self._child = self._child, None
        if child is None:
            return []
        child.end(patience)
        messages = child.told()
        child.close()
        return messages


def _enrol(settings: Settings, folder: Folder, newest: int) -> None:
    from sanderling.telling import record  # late: most crawls have no webhooks, and start faster
    from sanderling.telling.receivers import addresses
    from sanderling.telling.secret import secret_of

    for webhook in settings.webhook:
        secret_of(webhook, folder.path)
        record.enrol(folder.webhooks, webhook.url, newest)
    for address in addresses(settings):
        credentials.revealed("notify", address.asked.to)
        record.enrol(folder.webhooks, address.key, newest)
