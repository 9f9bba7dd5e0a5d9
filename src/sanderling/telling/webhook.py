"""One delivery to a webhook: what is sent, how it is signed, and what the answer means. No network, no clock.

Signed as Standard Webhooks has it (standardwebhooks.com), so that its libraries can verify it.
"""

import base64
import binascii
import hashlib
import hmac
import json
import uuid

from msgspec import Struct

from sanderling.model import VersionRow
from sanderling.telling.selection import as_table

MOST_CHANGES = 100
SHORTEST_PAUSE = 2.0
LONGEST_PAUSE = 3600.0

_PREFIX = "whsec_"


class Message(Struct, frozen=True):
    """What is sent, the same at every try."""

    id: str
    body: bytes


class DeliveryAnswer(Struct, frozen=True, kw_only=True):
    """How an endpoint answered; no status when it did not."""

    status: int = 0
    error: str = ""
    retry_after: float = 0.0

    @property
    def taken(self) -> bool:
        return 200 <= self.status < 300

    @property
    def unwanted(self) -> bool:
        """The endpoint is gone for good."""
        return self.status == 410

    @property
    def complaint(self) -> str:
        if 300 <= self.status < 400:
            return f"it redirects ({self.status}), which is not followed: name the new address"
        return self.error or f"it answered {self.status}"


def message(versions: list[VersionRow]) -> Message:
    """The changes of one delivery, the oldest first. The same changes have the same id, whenever they are sent."""
    tables = [as_table(version) for version in versions]
    name = uuid.uuid5(uuid.NAMESPACE_URL, " ".join(table["id"] for table in tables))
    return Message(f"msg_{name.hex}", _body("changes", tables))


def trial(id: str) -> Message:
    """A delivery without changes, to see whether an endpoint takes it."""
    return Message(id, _body("test", []))


def _body(kind: str, changes: list[dict[str, object]]) -> bytes:
    # A surrogate from the web has no place in UTF-8.
    return json.dumps({"type": kind, "changes": changes}, ensure_ascii=False).encode("utf-8", "replace")


def headers(sent: Message, secret: str, now: float) -> dict[str, str]:
    """What goes before the body; signed when there is a secret."""
    stamp = str(int(now))
    named = {"Content-Type": "application/json", "webhook-id": sent.id, "webhook-timestamp": stamp}
    if secret:
        signed = hmac.digest(key(secret), f"{sent.id}.{stamp}.".encode() + sent.body, hashlib.sha256)
        named["webhook-signature"] = "v1," + base64.b64encode(signed).decode()
    return named


def key(secret: str) -> bytes:
    """The bytes of a secret: base64 behind `whsec_`, else the text itself."""
    if not secret.startswith(_PREFIX):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        raise ValueError(f"a secret that begins with {_PREFIX} goes on in base64") from None


def pause(failures: int, retry_after: float, chance: float) -> float:
    """How long to wait after so many failures in a row: twice as long each time, and never all at the same moment."""
    doubled = min(LONGEST_PAUSE, SHORTEST_PAUSE * 2.0 ** min(failures - 1, 20))
    return max(doubled * (0.5 + chance / 2), min(retry_after, LONGEST_PAUSE))
