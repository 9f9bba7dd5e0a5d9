"""Changes as an Atom feed (RFC 4287)."""

import re
import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple
from xml.etree import ElementTree as xml

from sanderling import __version__
from sanderling.model import VersionRow
from sanderling.telling.edits import Edit, edits
from sanderling.telling.selection import identity_of, told

NAMESPACE = "http://www.w3.org/2005/Atom"
MEDIA_TYPE = "application/atom+xml"
MOST_ENTRIES = 100
# Changes that are read for a feed. Those of one edit are one entry.
MOST_CHANGES = 2000
# Addresses that an entry lists.
_MOST_PAGES = 20

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def feed(
    newest_first: Iterable[VersionRow], title: str, about: str, address: str | None = None, most: int = MOST_ENTRIES
) -> bytes:
    """Renders changes as a feed, with an entry for each edit.

    The id of the feed is made from `about`. `address` is the URL of the feed itself, if it has one.
    """
    entries = [_entry(edit) for edit in islice(edits(newest_first), most)]
    return feed_of(entries, title, about, address)


class FeedEntry(NamedTuple):
    """One entry of a feed. Readers know it by its id."""

    id: str
    title: str
    updated: float
    link: str
    summary: str
    categories: Sequence[str] = ()


def feed_of(entries: Sequence[FeedEntry], title: str, about: str, address: str | None = None) -> bytes:
    """Renders a feed. Its id and those of its entries that are no URNs yet are made from texts."""
    root = xml.Element("feed", xmlns=NAMESPACE)
    _add(root, "id", uuid.uuid5(uuid.NAMESPACE_URL, about).urn)
    _add(root, "title", title)
    _add(root, "updated", _moment(max((entry.updated for entry in entries), default=0.0)))
    _add(root, "generator", "Sanderling", version=__version__)
    _add(_add(root, "author"), "name", "Sanderling")
    if address:
        _add(root, "link", rel="self", href=address, type=MEDIA_TYPE)
    for entry in entries:
        root.append(_element(entry))
    document: bytes = xml.tostring(root, "utf-8", xml_declaration=True)
    return document + b"\n"


def _entry(edit: Edit) -> FeedEntry:
    version = edit.shown
    name = (version.title or version.url) + (f" and {len(edit.others):,} more" if edit.others else "")
    title = f"{name} ({', '.join(version.kinds.names) or 'nothing visible'})"
    summary = told(version) + _also(edit)
    return FeedEntry(identity_of(version), title, edit.at, version.url, summary, version.kinds.names)


def _element(told: FeedEntry) -> xml.Element:
    entry = xml.Element("entry")
    _add(entry, "id", told.id if told.id.startswith("urn:") else uuid.uuid5(uuid.NAMESPACE_URL, told.id).urn)
    _add(entry, "title", told.title)
    _add(entry, "updated", _moment(told.updated))
    _add(entry, "link", rel="alternate", href=told.link)
    for name in told.categories:
        _add(entry, "category", term=name)
    _add(entry, "summary", told.summary)
    return entry


def _also(edit: Edit) -> str:
    if not edit.others:
        return ""
    listed = " ".join(version.url for version in edit.others[:_MOST_PAGES])
    return f"\nThe same on: {listed}" + (" …" if len(edit.others) > _MOST_PAGES else "")


def _add(parent: xml.Element, name: str, text: str = "", **attributes: str) -> xml.Element:
    """Adds an element. Characters that XML does not allow are replaced."""
    child = xml.SubElement(parent, name, {key: _allowed(value) for key, value in attributes.items()})
    child.text = _allowed(text) or None
    return child


def _allowed(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
