"""The manifest: the one file that a crawler asks for again and again. It is small, and signed as a
whole.

It is two lines of JSON. The first is the manifest. The second holds an Ed25519 key, and the
signature that it makes of the bytes of the first.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Literal, Optional

from sanderling_announce import signing
from sanderling_announce.change import encoded
from sanderling_announce.deltas import Delta

FORMAT: Literal["sanderling-announcement-1"] = "sanderling-announcement-1"


@dataclass(frozen=True)
class Base:
    """The sitemap index that holds all pages as they were at a cursor."""

    cursor: int
    name: str


@dataclass(frozen=True)
class Manifest:
    format: Literal["sanderling-announcement-1"]
    site: str  # every URL of the report begins with this
    log: str  # another one when the announcer lost its memory: cursors start again
    cursor: int  # the newest
    generated: float
    until: float  # when there is a newer manifest at the latest; after that the announcer is dead, and silence means nothing
    complete: bool  # all pages are watched: what is not named did not change
    pages: int
    base: Optional[Base] = None
    deltas: tuple[Delta, ...] = ()
    # Days since 1970, and how many pages were new or changed on each, for the last week.
    updated: tuple[tuple[int, int], ...] = ()
    taken_until: float = 0.0  # a crawler is at work until then, and asks others to wait
    taken_by: str = ""


def write_manifest(manifest: Manifest, secret: bytes) -> bytes:
    """The file, signed with the 32 bytes of a secret key."""
    said = {name: value for name, value in vars(manifest).items() if value or name in ("cursor", "complete", "pages")}
    if manifest.base:
        said["base"] = vars(manifest.base)
    line = encoded(said)
    seal = {"key": _text(signing.public_key(secret)), "signature": _text(signing.sign(secret, line))}
    return b"%b\n%b\n" % (line, encoded(seal))


def _text(raw: bytes) -> str:
    return b64encode(raw).decode()
