"""Pages that somebody is about to watch: what a selector matches on them, and a copy in which an
element can be picked by a click.

A page is fetched by one request, or comes from the archive. It is kept for a few minutes only.
"""

import secrets
import threading
import time
from collections import OrderedDict

from msgspec import Struct

from sanderling.change.rules import ChangeRules, matched, problem
from sanderling.documents.reading import document_of
from sanderling.documents.tree import parse
from sanderling.documents.unreadable import UNREADABLE
from sanderling.errors import BadSetting
from sanderling.network import agent
from sanderling.network.one_request import request
from sanderling.network.reach import ANYWHERE, PUBLIC
from sanderling.settings import Settings
from sanderling.urls import join
from sanderling.urls.patterns import pattern

_KEPT = 30
_SECONDS = 600.0
_MOST_BODY = 4 << 20
_PATIENCE = 15.0
_MOST_REDIRECTS = 5
# Of a match, and matches that are shown.
_LETTERS, _MATCHES = 500, 20
_LOADED = {"src", "srcset", "poster", "background", "data"}
# What could run, load or lead somewhere.
_ACTIVE = "script, iframe, frame, object, embed, base, link, meta, noscript"


class Preview(Struct, frozen=True):
    """A page, or why it cannot be read."""

    token: str
    url: str
    html: str = ""
    error: str = ""
    read: float = 0.0  # when this was the page


class Matches(Struct, frozen=True):
    """What selectors match on a page."""

    texts: list[str]
    count: int
    error: str = ""


class Previews:
    """The pages of the last minutes. It is thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._kept: OrderedDict[str, Preview] = OrderedDict()

    def fetched(self, url: str, private: bool) -> Preview:
        """The page as it is now, or was a few minutes ago. `private` allows private addresses."""
        with self._guard:
            known = next((each for each in self._kept.values() if each.url == url), None)
        if known is not None and not known.error and time.time() - known.read < _SECONDS:
            return known
        html, error = _fetched(url, private)
        return self.keep(url, html, error, time.time())

    def keep(self, url: str, html: str, error: str, read: float) -> Preview:
        made = Preview(secrets.token_urlsafe(18), url, html, error, read)
        with self._guard:
            self._kept[made.token] = made
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return made

    def named(self, token: str) -> Preview | None:
        with self._guard:
            return self._kept.get(token)


def matches(preview: Preview, rules: ChangeRules) -> Matches:
    """What is left of a page by these rules."""
    for selector in (*rules.watch, *rules.ignore):
        if why := problem(selector):
            return Matches([], 0, f"{selector!r} is not a valid selector: {why}")
    if preview.error:
        return Matches([], 0, preview.error)
    try:
        for text in (*rules.keep_text, *rules.ignore_text):
            pattern(text)
    except BadSetting as error:
        return Matches([], 0, str(error))
    found = [text for text in matched(parse(preview.html), rules) if text]
    return Matches([text[:_LETTERS] for text in found[:_MATCHES]], len(found))


def pickable(preview: Preview, script: str, nonce: str) -> str:
    """The page without anything that runs or loads, and with our script that tells which element
    was clicked."""
    document = parse(preview.html)
    document.remove(_ACTIVE)
    for element in document.select("*"):
        for name in [name for name in element.attrs if name in _LOADED or name.startswith("on")]:
            del element.attrs[name]
    body = document.find("body")
    if body is not None:
        body.insert_adjacent_html("beforeend", f'<script nonce="{nonce}">{script}</script>')
    return document.html


def _fetched(url: str, private: bool) -> tuple[str, str]:
    """The HTML of a page, or why there is none."""
    reach = ANYWHERE if private else PUBLIC
    for _ in range(_MOST_REDIRECTS):
        answer = request(url, agent=agent(Settings()), reach=reach, most=_MOST_BODY, seconds=_PATIENCE)
        target = answer.headers.get("location", "") if 300 <= answer.status < 400 else ""
        following = join(url, target) if target else None
        if following is None:
            break
        url = following
    if not 200 <= answer.status < 300:
        return "", f"{url} cannot be read now: {answer.error or f'it answered {answer.status}'}"
    try:
        document = document_of(url, answer.body, answer.headers.get("content-type", "") or "text/html")
    except UNREADABLE:
        document = None
    return (document.html, "") if document is not None else ("", f"{url} has no text that can be watched")
