"""What the commands on versions share: finding a page and its versions, and reading their paragraphs."""

import argparse
import re
import time

from sanderling.change.explain import paragraphs
from sanderling.cli.folders import add_folder
from sanderling.errors import UsageError
from sanderling.model import ChangeKind, VersionRow
from sanderling.repository import warc
from sanderling.repository.folder import Folder
from sanderling.repository.store import Store
from sanderling.urls import SEEDABLE, canonical, identity
from sanderling.wiring.archive import document_in

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def add_page(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    parser.add_argument("url", help="the page")


def versions_of(store: Store, url: str) -> list[VersionRow]:
    """The versions of a page, the first one first."""
    wanted = canonical(url if "://" in url else "https://" + url, SEEDABLE)
    if wanted is None:
        raise UsageError(f"{url!r} is not a URL")
    found = store.versions(identity(wanted))
    if not found:
        known = store.known([identity(wanted)])
        raise UsageError(f"{wanted} {'has no version' if known else 'is not known'} in this crawl")
    return found


def paragraphs_of(folder: Folder, version: VersionRow) -> list[str]:
    """What a reader sees of a version; nothing of a tombstone."""
    if version.kinds & ChangeKind.GONE:
        return []
    document = document_in(warc.read(folder.warcs, version.stored))
    return paragraphs(document) if document is not None else []


def when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def moment(text: str, now: float) -> float:
    """A point in time: `2026-11-01`, `2026-11-01 12:00`, or an age such as `3h` or `7d`."""
    age = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text.strip())
    if age:
        return now - float(age[1]) * _UNITS[age[2]]
    for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"):
        try:
            return time.mktime(time.strptime(text.strip(), form))
        except (ValueError, OverflowError):
            continue
    raise UsageError(f"{text!r} is no point in time; write 2026-11-01, '2026-11-01 12:00', or an age such as 3h or 7d")


def said(version: VersionRow) -> str:
    """The kinds of a change in words."""
    return ", ".join(version.kinds.names) or "nothing visible"
