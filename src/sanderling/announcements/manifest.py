"""Reads manifests (`sanderling_announce/manifest.py`), which may be the work of an enemy."""

from base64 import b64decode
from dataclasses import replace
from typing import NamedTuple

import msgspec

from sanderling.announcements.failures import BadReport
from sanderling.urls import canonical, origin
from sanderling_announce.deltas import MOST_BYTES, MOST_LINES
from sanderling_announce.manifest import Manifest
from sanderling_announce.naming import is_file_name

# Of the file. A hundred deltas, more than there ever are, take 8 kB.
MOST_BYTES_OF_MANIFEST = 256 * 1024
MOST_DELTAS = 1000
# Days that a manifest counts.
MOST_DAYS = 100
# How far the clock of a site may be ahead of ours, in seconds.
_CLOCK_ERROR = 300.0
# No manifest is for longer, whatever it says. Announcers write another one every ten minutes.
LONGEST_UNTIL = 24 * 3600.0


class Position(NamedTuple):
    """How far a crawler has read a report, for the next time."""

    log: str
    cursor: int
    generated: float


class Seal(msgspec.Struct, frozen=True):
    """The second line."""

    key: str  # the public key, base64
    signature: str


class SignedManifest(NamedTuple):
    manifest: Manifest
    key: str  # who signed it: the public key, base64


def read_manifest(
    content: bytes, at: str, *, now: float, seen: Position | None = None, key: str = ""
) -> SignedManifest:
    """The manifest that was found at a URL; raises BadReport when it is not to be believed.

    `key` is the one that has to have signed it, when one is known. Without it, a report speaks only
    for the origin that serves it: it is then as trustworthy as the pages themselves. `seen` is what
    was read of it the last time.
    """
    if len(content) > MOST_BYTES_OF_MANIFEST:
        raise BadReport(f"it has more than {MOST_BYTES_OF_MANIFEST:,} bytes")
    line, _, rest = content.partition(b"\n")
    try:
        manifest = msgspec.json.decode(line, type=Manifest)
        seal = msgspec.json.decode(rest, type=Seal)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise BadReport("it is no manifest of an announcer") from None
    _check_signature(line, seal)
    if key and seal.key != key:
        raise BadReport("it is signed by somebody else")
    _check_site(manifest, at, trusted=bool(key))
    _check_order(manifest, now, seen)
    _check_files(manifest)
    # Whoever held the site once would otherwise hold its key for ever.
    bounded = replace(manifest, until=min(manifest.until, manifest.generated + LONGEST_UNTIL))
    return SignedManifest(bounded, seal.key)


def position(manifest: Manifest) -> Position:
    """Where a crawler is that has read all of it."""
    return Position(manifest.log, manifest.cursor, manifest.generated)


def _check_signature(line: bytes, seal: Seal) -> None:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(b64decode(seal.key, validate=True)).verify(
            b64decode(seal.signature, validate=True), line
        )
    except (InvalidSignature, ValueError):
        raise BadReport("its signature is wrong") from None


def _check_site(manifest: Manifest, at: str, trusted: bool) -> None:
    if canonical(manifest.site) != manifest.site or not manifest.site.endswith("/"):
        raise BadReport("it does not say for which site it speaks")
    if not trusted and origin(manifest.site) != origin(at):
        raise BadReport(f"it stands at {origin(at)} and speaks for {origin(manifest.site)}")


def _check_order(manifest: Manifest, now: float, seen: Position | None) -> None:
    if not 0 < manifest.generated <= now + _CLOCK_ERROR:
        raise BadReport("it comes from the future")
    if seen is None:
        return
    if manifest.generated < seen.generated or (manifest.log == seen.log and manifest.cursor < seen.cursor):
        raise BadReport("it is older than one that was read before")


def _check_files(manifest: Manifest) -> None:
    if manifest.base is not None and not (
        is_file_name(manifest.base.name) and 0 <= manifest.base.cursor <= manifest.cursor
    ):
        raise BadReport("its sitemap is no file of a report")
    if len(manifest.updated) > MOST_DAYS:
        raise BadReport(f"it counts more than {MOST_DAYS} days")
    if len(manifest.deltas) > MOST_DELTAS:
        raise BadReport(f"it has more than {MOST_DELTAS:,} deltas")
    for delta in manifest.deltas:
        if not (
            is_file_name(delta.name)
            and 0 <= delta.after < delta.to <= manifest.cursor
            and 0 <= delta.lines <= MOST_LINES
            and 0 <= delta.bytes <= MOST_BYTES
        ):
            raise BadReport("one of its deltas is no file of a report")
