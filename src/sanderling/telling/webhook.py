"""One delivery to a webhook: its body and its signature. Uses no network and no clock.

Signatures follow Standard Webhooks (standardwebhooks.com), so that its libraries can verify them.
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

_PREFIX = "whsec_"


class WebhookMessage(Struct, frozen=True):
    """A delivery. It is the same at every try."""

    id: str
    body: bytes


def message(versions: list[VersionRow]) -> WebhookMessage:
    """A delivery of these changes, the oldest first. The same changes always get the same id."""
    tables = [as_table(version) for version in versions]
    name = uuid.uuid5(uuid.NAMESPACE_URL, " ".join(table["id"] for table in tables))
    return WebhookMessage(f"msg_{name.hex}", _body("changes", tables))


def trial(id: str) -> WebhookMessage:
    """A delivery without changes, to test whether an endpoint accepts it."""
    return WebhookMessage(id, _body("test", []))


def _body(kind: str, changes: list[dict[str, object]]) -> bytes:
    # Text from the web may hold lone surrogates, which UTF-8 cannot encode.
    return json.dumps({"type": kind, "changes": changes}, ensure_ascii=False).encode("utf-8", "replace")


def headers(sent: WebhookMessage, secret: str, now: float) -> dict[str, str]:
    """The headers of a delivery. They hold a signature if there is a secret."""
    stamp = str(int(now))
    named = {"Content-Type": "application/json", "webhook-id": sent.id, "webhook-timestamp": stamp}
    if secret:
        signed = hmac.digest(key(secret), f"{sent.id}.{stamp}.".encode() + sent.body, hashlib.sha256)
        named["webhook-signature"] = "v1," + base64.b64encode(signed).decode()
    return named


def key(secret: str) -> bytes:
    """The bytes of a secret. After the prefix `whsec_` it is base64; otherwise it is plain text."""
    if not secret.startswith(_PREFIX):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        raise ValueError(f"a secret that begins with {_PREFIX} must continue in base64") from None
