"""Changes as an Atom feed (RFC 4287)."""

import re
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from xml.etree import ElementTree as xml

from sanderling import __version__
from sanderling.model import VersionRow
from sanderling.telling.selection import identity_of

NAMESPACE = "http://www.w3.org/2005/Atom"
MEDIA_TYPE = "application/atom+xml"
MOST_ENTRIES = 100

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def feed(newest_first: Iterable[VersionRow], title: str, about: str, address: str | None = None) -> bytes:
    """Renders changes as a feed.

    The id of the feed is made from `about`. `address` is the URL of the feed itself, if it has one.
    """
    versions = list(newest_first)
    root = xml.Element("feed", xmlns=NAMESPACE)
    _add(root, "id", uuid.uuid5(uuid.NAMESPACE_URL, about).urn)
    _add(root, "title", title)
    _add(root, "updated", _moment(max((version.at for version in versions), default=0.0)))
    _add(root, "generator", "Sanderling", version=__version__)
    _add(_add(root, "author"), "name", "Sanderling")
    if address:
        _add(root, "link", rel="self", href=address, type=MEDIA_TYPE)
    for version in versions:
        root.append(_entry(version))
    document: bytes = xml.tostring(root, "utf-8", xml_declaration=True)
    return document + b"\n"


def _entry(version: VersionRow) -> xml.Element:
    entry = xml.Element("entry")
    _add(entry, "id", identity_of(version))
    _add(entry, "title", f"{version.title or version.url} ({', '.join(version.kinds.names) or 'nothing visible'})")
    _add(entry, "updated", _moment(version.at))
    _add(entry, "link", rel="alternate", href=version.url)
    for name in version.kinds.names:
        _add(entry, "category", term=name)
    _add(entry, "summary", version.summary)
    return entry


def _add(parent: xml.Element, name: str, text: str = "", **attributes: str) -> xml.Element:
    """Adds an element. Characters that XML does not allow are replaced."""
    child = xml.SubElement(parent, name, {key: _allowed(value) for key, value in attributes.items()})
    child.text = _allowed(text) or None
    return child


def _allowed(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
