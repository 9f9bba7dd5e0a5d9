"""Delivers changes to webhooks, at least once and in the order of commits.

Each webhook has a thread of its own, so that a slow endpoint does not delay the others. A record
says how far a webhook is and which delivery is being tried. It is written before and after each
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
from sanderling.network import agent
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.repository.store import ChangeStore, Notes
from sanderling.settings import Settings, Webhook, revealed
from sanderling.telling import record as records
from sanderling.telling.baseline import baseline
from sanderling.telling.post import post
from sanderling.telling.record import DeliveryRecord
from sanderling.telling.secret import secret_of
from sanderling.telling.selection import ChangeFilter, kinds_named
from sanderling.telling.webhook import MOST_CHANGES, DeliveryAnswer, WebhookMessage, headers, message
from sanderling.urls import hostname

POLL_SECONDS = 0.5  # between two looks for new versions in the store
VERSIONS_PER_READ = 500
STORE_AWAY_SECONDS = 5.0  # before a store that cannot be reached is opened again

Say = Callable[[str], None]


def send(sent: WebhookMessage, webhook: Webhook, folder: Folder, settings: Settings) -> DeliveryAnswer:
    """Tries once to deliver a message."""
    signed = headers(sent, secret_of(webhook, folder.path), time.time())
    private = webhook.allow_private or settings.allow_private
    return post(webhook.url, signed, sent.body, agent=agent(settings), proxy=revealed(settings).proxy, private=private)


def deliver_all(folder: Folder, settings: Settings, ended: threading.Event, say: Say, at_once: bool = False) -> None:
    """Delivers to every webhook until `ended` is set, then delivers what is left.

    With `at_once`, the pause after a failure is skipped.
    """
    threads = [
        threading.Thread(target=_deliver, args=(folder, settings, webhook, ended, say, at_once), daemon=True)
        for webhook in settings.webhook
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


def _deliver(
    folder: Folder, settings: Settings, webhook: Webhook, ended: threading.Event, say: Say, at_once: bool
) -> None:
    while True:
        try:
            with closing(open_store(folder, readonly=True)) as store:
                _Deliveries(store, folder, settings, webhook, say).run(ended, at_once)
                return
        except StoreAway:
            if ended.wait(STORE_AWAY_SECONDS):
                return


class ReportStore(ChangeStore, Notes, Protocol):
    """Changes, and which of them are the baseline."""


class _Deliveries:
    """Deliveries to one webhook, one after the other."""

    def __init__(self, store: ReportStore, folder: Folder, settings: Settings, webhook: Webhook, say: Say) -> None:
        self._store, self._folder, self._settings, self._webhook, self._say = store, folder, settings, webhook, say
        self._name = f"the webhook at {hostname(webhook.url)}"
        self._wanted = ChangeFilter(
            kinds=kinds_named(webhook.kinds), significance=webhook.min_significance, hosts=webhook.hosts, login=webhook.login,
            after=0 if webhook.baseline else baseline(store).number,
        )  # fmt: skip
        kept = records.read(folder.webhooks, webhook.url)
        self._record = kept or DeliveryRecord(delivered=store.newest_version())

    def run(self, ended: threading.Event, at_once: bool) -> None:
        while not self._record.disabled:
            last = ended.is_set()
            wait = 0.0 if at_once else self._record.not_before - time.time()
            if wait > 0:
                if last or ended.wait(wait):
                    return
                continue
            found, until = batch(self._store, self._record, self._wanted)
            if found:
                if not self._try(found, until) and (last or at_once):
                    return
            elif until > self._record.delivered:
                self._keep(self._record.passed(until))
            elif last:
                return
            else:
                ended.wait(POLL_SECONDS)

    def _try(self, found: list[VersionRow], until: int) -> bool:
        self._keep(self._record.trying(until))
        before = self._record
        answer = send(message(found), self._webhook, self._folder, self._settings)
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
        records.write(self._folder.webhooks, self._webhook.url, record)
        self._record = record


def batch(store: ChangeStore, record: DeliveryRecord, wanted: ChangeFilter) -> tuple[list[VersionRow], int]:
    """Returns the changes to deliver next, and the number of the last version they cover.

    A delivery that was tried before is made again from the same versions.
    """
    rows = store.changes_after(record.delivered, VERSIONS_PER_READ)
    if record.pending:
        return [row for row in rows if row.number <= record.pending and wanted.takes(row)], record.pending
    found: list[VersionRow] = []
    for row in rows:
        if wanted.takes(row):
            found.append(row)
        if len(found) == MOST_CHANGES:
            return found, row.number
    return found, rows[-1].number if rows else record.delivered
