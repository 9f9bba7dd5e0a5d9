"""Delivers changes to webhooks and notifications to people, at least once and in the order of
commits.

Each receiver has a thread of its own, so that a slow one does not delay the others. A record says
how far it is and which delivery is being tried. It is written before and after each
try. After a restart the work continues there: a delivery that may have arrived is sent again with
the same id.
"""

import fcntl
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Protocol

from sanderling.errors import FolderInUse, StoreAway
from sanderling.model import VersionRow
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.repository.store import ChangeStore, Notes
from sanderling.settings import Settings
from sanderling.subscriptions import AT_ONCE
from sanderling.telling import record as records
from sanderling.telling.answer import LONGEST_PAUSE
from sanderling.telling.baseline import baseline
from sanderling.telling.receivers import ChangeReceiver, receivers
from sanderling.telling.record import DeliveryRecord
from sanderling.telling.schedule import due
from sanderling.telling.selection import ChangeFilter
from sanderling.telling.webhook import MOST_CHANGES

POLL_SECONDS = 0.5  # between two looks for new versions in the store
VERSIONS_PER_READ = 500
LONGEST_SLEEP = 60.0  # the clock may be set while a digest is waited for
STORE_AWAY_SECONDS = 5.0  # before a store that cannot be reached is opened again

Say = Callable[[str], None]


def deliver_all(folder: Folder, settings: Settings, ended: threading.Event, say: Say, at_once: bool = False) -> None:
    """Delivers to every receiver until `ended` is set, then delivers what is left.

    With `at_once`, the pause after a failure is skipped.
    """
    threads = [
        threading.Thread(target=_deliver, args=(folder, receiver, ended, say, at_once), daemon=True)
        for receiver in receivers(folder, settings)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@contextmanager
def sole_messenger(folder: Folder) -> Iterator[None]:
    """Makes sure that only one process delivers. The lock ends with the process."""
    folder.webhooks.mkdir(exist_ok=True)
    with (folder.webhooks / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise FolderInUse(f"another process is delivering the changes of {folder.path}") from None
        yield


def _deliver(folder: Folder, receiver: ChangeReceiver, ended: threading.Event, say: Say, at_once: bool) -> None:
    while True:
        try:
            with closing(open_store(folder, readonly=True)) as store:
                _Deliveries(store, folder, receiver, say).run(ended, at_once)
                return
        except StoreAway:
            if ended.wait(STORE_AWAY_SECONDS):
                return


class DeliveryStore(ChangeStore, Notes, Protocol):
    """Changes, and which of them are the baseline."""


class _Deliveries:
    """Deliveries to one receiver, one after the other."""

    def __init__(self, store: DeliveryStore, folder: Folder, receiver: ChangeReceiver, say: Say) -> None:
        self._store, self._folder, self._receiver, self._say = store, folder, receiver, say
        self._name = receiver.name
        self._wanted = receiver.wanted(0 if receiver.baseline else baseline(store).number)
        kept = records.read(folder.webhooks, receiver.key)
        self._record = kept or DeliveryRecord(delivered=store.newest_version(), since=time.time())

    def run(self, ended: threading.Event, at_once: bool) -> None:
        while not self._record.disabled:
            last = ended.is_set()
            wait = 0.0 if at_once else self._wait(time.time(), last)
            if wait > 0:
                if last or ended.wait(min(wait, LONGEST_SLEEP)):
                    return
                continue
            found, until = batch(self._store, self._record, self._wanted, self._receiver.most)
            if found:
                if not self._try(found, until) and (last or at_once):
                    return
            elif until > self._record.delivered:
                self._keep(self._record.passed(until, time.time()))
            elif last:
                return
            else:
                ended.wait(POLL_SECONDS)

    def _wait(self, now: float, last: bool) -> float:
        """Seconds until the next try, or until the next message is due."""
        if self._record.failures:
            wait = self._record.not_before - now
            return wait if wait <= LONGEST_PAUSE else 0.0  # the clock was set back
        if self._receiver.when == AT_ONCE:
            return 0.0 if last else min(self._record.last_at, now) + self._receiver.gap - now
        return due(self._receiver.when, self._record.since, now) - now

    def _try(self, found: list[VersionRow], until: int) -> bool:
        self._keep(self._record.trying(until))
        before = self._record
        answer = self._receiver.deliver(found)
        self._keep(before.after(answer, len(found), time.time(), random.random()))
        if answer.taken and before.failures:
            self._say(f"{self._name} accepts changes again")
        elif answer.unwanted:
            self._say(
                f"{self._name} answered 410 (gone) and is now disabled; "
                f"`sanderling webhooks {self._folder.path} --test` enables it again"
            )
        elif not answer.taken and not before.failures:
            self._say(
                f"{self._name} did not accept changes: {answer.complaint}; nothing is lost, they will be sent again"
            )
        return answer.taken

    def _keep(self, record: DeliveryRecord) -> None:
        records.write(self._folder.webhooks, self._receiver.key, record)
        self._record = record


def batch(
    store: ChangeStore, record: DeliveryRecord, wanted: ChangeFilter, most: int = MOST_CHANGES
) -> tuple[list[VersionRow], int]:
    """Returns the changes to deliver next, and the number of the last version they cover.

    A delivery that was tried before is made again from the same versions.
    """
    found: list[VersionRow] = []
    number = record.delivered
    while rows := store.changes_after(number, VERSIONS_PER_READ):
        for row in rows:
            if record.pending and row.number > record.pending:
                return found, record.pending
            number = row.number
            if wanted.takes(row):
                found.append(row)
            if len(found) == most and not record.pending:
                return found, number
        if not found:
            break
    return found, record.pending or number
