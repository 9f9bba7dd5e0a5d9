"""The feeds of a crawl that this server has subscribed to at their hubs, kept in a file of the
crawl's folder."""

import re
import secrets
from pathlib import Path
from typing import Literal

import msgspec

from sanderling.files import PRIVATE, write_whole
from sanderling.repository import warc
from sanderling.repository.folder import Folder
from sanderling.repository.store import Store
from sanderling.server.requests.inbox import FOLDER
from sanderling.urls import canonical, join, origin

FILE = "websub.json"
# Feeds of one crawl that are looked at.
MOST_FEEDS = 1000
_HEAD = 64 * 1024

_FEEDS = """SELECT u.id, u.url FROM {urls} WHERE u.state = 3
    AND p.mime IN ('application/rss+xml', 'application/atom+xml', 'application/rdf+xml', 'text/xml', 'application/xml')
    ORDER BY u.id LIMIT ?"""
_LINK = re.compile(rb"<(?:[\w.-]{1,40}:)?link\b([^<>]{1,4096})>")
_HREF = re.compile(rb"""\bhref\s*=\s*["']([^"'<>]{1,4096})["']""")
_REL = re.compile(rb"""\brel\s*=\s*["']([^"'<>]{1,100})["']""")
_HEADER = re.compile(r'<([^<>]{1,4096})>\s*;\s*rel="?([\w ]{1,100})"?')


class Subscription(msgspec.Struct, kw_only=True):
    """One feed at one hub. The token is the secret part of the callback's address."""

    topic: str
    hub: str
    token: str = msgspec.field(default_factory=lambda: secrets.token_urlsafe(24))
    secret: str = msgspec.field(default_factory=lambda: secrets.token_urlsafe(32))
    state: Literal["asked", "active", "denied"] = "asked"
    asked_at: float = 0.0
    until: float = 0.0
    newest: float = 0.0  # the newest date of an entry that was told


def load(folder: Path) -> list[Subscription]:
    try:
        return msgspec.json.decode((folder / FOLDER / FILE).read_bytes(), type=list[Subscription])
    except (OSError, msgspec.MsgspecError):
        return []


def save(folder: Path, subscriptions: list[Subscription]) -> None:
    (folder / FOLDER).mkdir(exist_ok=True)
    write_whole(folder / FOLDER / FILE, msgspec.json.encode(subscriptions), mode=PRIVATE)


def feeds(folder: Folder, store: Store) -> list[tuple[str, str]]:
    """(topic, hub) of the feeds of a crawl that name a hub."""
    found = []
    for id, url in store.select(_FEEDS.format(urls=store.joins.urls), MOST_FEEDS):
        versions = store.versions(id)
        if not versions:
            continue
        try:
            archived = warc.read(folder.warcs, versions[-1].stored)
        except (OSError, ValueError):
            continue
        if named := hub_of(archived, url):
            found.append(named)
    return found


def hub_of(archived: warc.Archived, url: str) -> tuple[str, str] | None:
    """The topic and the hub that a feed names, in its headers or in itself; the topic is the
    feed's own address, and no feed speaks for another site."""
    named: dict[str, str] = {}
    for name, value in archived.headers:
        if name.lower() == "link":
            for href, rel in _HEADER.findall(value):
                named.update(dict.fromkeys(rel.split(), join(url, href) or ""))
    for tag in _LINK.finditer(archived.body, 0, _HEAD):
        href, rel = _HREF.search(tag[1]), _REL.search(tag[1])
        if href and rel:
            for word in rel[1].decode("ascii", "replace").split():
                named.setdefault(word, join(url, href[1].decode("utf-8", "replace").replace("&amp;", "&")) or "")
    hub = named.get("hub", "")
    topic = canonical(named.get("self", "")) or url
    topic = topic if origin(topic) == origin(url) else url
    return (topic, hub) if hub.startswith(("http://", "https://")) else None
