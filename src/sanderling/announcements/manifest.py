"""The manifest: the one file that a crawler asks for again and again. It is small, and signed as a
whole.

It is two lines of JSON. The first is the manifest. The second holds an Ed25519 key, and the
signature that it makes of the bytes of the first.
"""

from base64 import b64decode, b64encode
from typing import Annotated, Literal, NamedTuple

import msgspec

from sanderling.announcements.deltas import MOST_BYTES, MOST_LINES, Delta
from sanderling.announcements.failures import BadReport
from sanderling.announcements.naming import is_file_name
from sanderling.urls import canonical, origin

FORMAT = "sanderling-announcement-1"
# Of the file. A hundred deltas, more than there ever are, take 8 kB.
MOST_BYTES_OF_MANIFEST = 256 * 1024
MOST_DELTAS = 1000
# How far the clock of a site may be ahead of ours, in seconds.
_CLOCK_ERROR = 300.0
# No manifest is for longer, whatever it says. Announcers write another one every ten minutes.
LONGEST_UNTIL = 24 * 3600.0


class Base(msgspec.Struct, frozen=True):
    """The sitemap index that holds all pages as they were at a cursor."""

    cursor: int
    name: str


class Manifest(msgspec.Struct, frozen=True, omit_defaults=True):
    format: Literal["sanderling-announcement-1"]
    site: str  # every URL of the report begins with this
    log: str  # another one when the announcer lost its memory: cursors start again
    cursor: int  # the newest
    generated: float
    until: float  # when there is a newer manifest at the latest; after that the announcer is dead, and silence means nothing
    complete: bool  # all pages are watched: what is not named did not change
    pages: int
    base: Base | None = None
    deltas: tuple[Delta, ...] = ()
    # Days since 1970, and how many pages were new or changed on each, for the last week.
    updated: Annotated[tuple[tuple[int, int], ...], msgspec.Meta(max_length=100)] = ()
    taken_until: float = 0.0  # a crawler is at work until then, and asks others to wait
    taken_by: str = ""


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


def write_manifest(manifest: Manifest, secret: bytes) -> bytes:
    """The file, signed with the 32 bytes of a secret key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    line = msgspec.json.encode(manifest)
    private = Ed25519PrivateKey.from_private_bytes(secret)
    seal = Seal(_text(private.public_key().public_bytes_raw()), _text(private.sign(line)))
    return b"%b\n%b\n" % (line, msgspec.json.encode(seal))


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
    bounded = msgspec.structs.replace(manifest, until=min(manifest.until, manifest.generated + LONGEST_UNTIL))
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


def _text(raw: bytes) -> str:
    return b64encode(raw).decode()
