"""The state of the deliveries to each receiver, in one small file each.

A file is replaced as a whole, so that a kill at any moment cannot damage it.
"""

import time
from hashlib import sha256
from pathlib import Path

import msgspec

from sanderling.files import write_whole
from sanderling.telling.answer import DeliveryAnswer, pause


class DeliveryRecord(msgspec.Struct, frozen=True, kw_only=True):
    """How far the deliveries to a webhook or an address are."""

    delivered: int  # the number of the last version that was delivered or filtered out
    pending: int = 0  # the last version of the delivery that is being tried; the same at every try
    changes: int = 0  # delivered so far
    last_at: float = 0.0  # time of the last delivery
    failures: int = 0  # in a row
    complaint: str = ""
    not_before: float = 0.0  # time of the next try
    disabled: bool = False
    since: float = 0.0  # when the last digest was due

    def passed(self, number: int, now: float) -> "DeliveryRecord":
        """The record after all versions up to `number` were filtered out."""
        return msgspec.structs.replace(self, delivered=number, pending=0, since=now)

    def trying(self, number: int) -> "DeliveryRecord":
        return msgspec.structs.replace(self, pending=number)

    def after(self, answer: DeliveryAnswer, changes: int, now: float, chance: float) -> "DeliveryRecord":
        """The record after an endpoint answered."""
        replace = msgspec.structs.replace
        if answer.taken:
            return DeliveryRecord(delivered=self.pending, changes=self.changes + changes, last_at=now, since=now)
        failed = replace(self, failures=self.failures + 1, complaint=answer.complaint)
        if answer.unwanted:
            return replace(failed, disabled=True)
        return replace(failed, not_before=now + pause(failed.failures, answer.retry_after, chance))

    def revived(self) -> "DeliveryRecord":
        return msgspec.structs.replace(self, failures=0, complaint="", not_before=0.0, disabled=False)


def place(folder: Path, key: str) -> Path:
    return folder / f"{sha256(key.encode()).hexdigest()[:16]}.json"


def enrol(folder: Path, key: str, newest: int) -> None:
    """Makes a record for a new receiver. It gets the versions that come after `newest`."""
    folder.mkdir(exist_ok=True)
    if not place(folder, key).exists():
        write(folder, key, DeliveryRecord(delivered=newest, since=time.time()))


def read(folder: Path, key: str) -> DeliveryRecord | None:
    try:
        return msgspec.json.decode(place(folder, key).read_bytes(), type=DeliveryRecord)
    except FileNotFoundError:
        return None


def write(folder: Path, key: str, record: DeliveryRecord) -> None:
    write_whole(place(folder, key), msgspec.json.encode(record))
