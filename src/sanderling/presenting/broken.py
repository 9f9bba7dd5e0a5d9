"""Which links of a crawl are broken: read from the stored pages and from how the crawl's own visits
ended."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Literal, NamedTuple
from urllib.parse import unquote

import msgspec

from sanderling.client.outside import Outside, ask_all
from sanderling.documents.html import HtmlPage, readable_page
from sanderling.documents.references import Reference, needs_place, places, references
from sanderling.model import PageRow, State, Stored
from sanderling.model.reasons import sentence
from sanderling.repository import warc
from sanderling.repository.archive import type_of
from sanderling.repository.export import LeftOut, readable
from sanderling.repository.folder import Folder
from sanderling.repository.named_addresses import NamedAddresses
from sanderling.repository.store import Store
from sanderling.settings import Settings

MOST_REDIRECTS = 20
_OUT_OF_SCOPE = {"other-host", "other-domain", "outside-prefix"}

# Files that pages need are in no list of pages.
_FILES = "SELECT u.url, u.state, p.status, u.reason FROM {} WHERE u.kind = 3"

Kind = Literal["broken", "fragment", "redirect"]
Progress = Callable[[str, int, int], None]


class LinkFrom(msgspec.Struct, frozen=True):
    """A link on a page."""

    url: str
    words: str


class BrokenLink(msgspec.Struct, frozen=True):
    """A target that does not work, or has moved for good, and the pages whose readers meet it."""

    kind: Kind
    url: str
    status: int
    reason: str
    target: str  # where a redirect leads in the end
    pages: int
    links: list[LinkFrom]
    since: float = 0.0  # when it was first seen like this; 0 if that is not known

    @property
    def key(self) -> str:
        return f"{self.kind} {self.url}"


class _Known(NamedTuple):
    """How the visits of a crawl ended."""

    broken: dict[str, tuple[int, str]]  # by URL: status and reason
    moved: dict[str, tuple[str, bool]]  # where a redirect leads, and whether for good
    stored: dict[str, PageRow]  # HTML pages that are there
    other: set[str]  # other files that are there
    out_of_scope: set[str]
    not_asked: set[str]  # for reasons that the user or the site gave


def broken_links(
    folder: Folder, store: Store, settings: Settings, *, external: bool, with_login: bool, left_out: LeftOut,
    progress: Progress,
) -> list[BrokenLink]:  # fmt: skip
    """All of them, those that most pages lead to first."""
    known = _known(store, with_login)
    links: dict[tuple[str, str], dict[str, str]] = {}  # (URL, fragment): the words by page
    with closing(warc.WarcReader(folder.warcs)) as reader:
        pages = _Pages(reader, known.stored, left_out)
        for number, (url, page) in enumerate(pages.all(), 1):
            progress("read", number, len(known.stored))
            for each in references(page):
                for fragment in {"", each.fragment if needs_place(each.fragment) else ""}:
                    if _may_matter(each, fragment, known, external):
                        links.setdefault((each.url, fragment), {}).setdefault(url, each.words)
        missing = _missing_places({key for key in links if key[1]}, known, pages)
    asked = _outside(links, known, settings, NamedAddresses(store, settings), progress) if external else {}
    return sorted(_found(links, known, missing, asked), key=lambda each: (-each.pages, each.kind, each.url))


def _known(store: Store, with_login: bool) -> _Known:
    known = _Known({}, {}, {}, set(), set(), set())
    for page in store.pages():
        if page.state in ("gone", "failed"):
            known.broken[page.url] = (page.status, page.reason or f"answered {page.status}")
        elif page.redirect:
            known.moved[page.url] = (page.redirect, page.permanent)
        elif page.state == "fetched" and "html" in page.mime and page.warc and (with_login or not page.login):
            known.stored[page.url] = page
        else:
            known.other.add(page.url)
    for url, state, status, why in store.select(_FILES.format(store.joins.urls)):
        if state in (State.FAILED, State.GONE):
            known.broken[url] = (status or 0, sentence(why) or f"answered {status}")
        else:
            (known.other if status else known.not_asked).add(url)
    for state in (State.FAILED, State.GONE):
        for page in store.unanswered(state):
            known.broken[page.url] = (0, page.reason)
    for page in store.unanswered(State.EXCLUDED):
        (known.out_of_scope if page.reason_code.partition(":")[0] in _OUT_OF_SCOPE else known.not_asked).add(page.url)
    known.not_asked.update(page.url for page in store.unanswered(State.KNOWN))
    known.not_asked.update(page.url for page in store.unanswered(State.QUEUED))
    return known


class _Pages:
    """The stored pages, parsed."""

    def __init__(self, reader: warc.WarcReader, stored: dict[str, PageRow], left_out: LeftOut) -> None:
        self._reader, self._stored, self._left_out = reader, stored, left_out

    def all(self) -> Iterator[tuple[str, HtmlPage]]:
        """In the order of the archives, which is the fastest to read."""
        for url in sorted(self._stored, key=lambda url: (self._stored[url].warc or "", self._stored[url].offset)):
            if (page := self.read(url)) is not None:
                yield url, page

    def read(self, url: str) -> HtmlPage | None:
        row = self._stored[url]
        archived = readable(self._reader, url, Stored(row.warc or "", row.offset, row.length), self._left_out)
        if archived is None:
            return None
        _, _, charset = type_of(archived).partition("charset=")
        return readable_page(archived.body, row.charset or charset.strip("\"' ") or None, url)


def _may_matter(link: Reference, fragment: str, known: _Known, external: bool) -> bool:
    """Whether a link has to be remembered, which few have."""
    url = link.url
    if fragment:
        return url in known.stored or url in known.moved
    if url in known.broken or url in known.moved:
        return True
    if not external or url in known.stored or url in known.other or url in known.not_asked:
        return False
    return url in known.out_of_scope or not link.is_page


def _end(url: str, known: _Known) -> tuple[str, bool]:
    """Where a URL leads in the end, and whether for good; an empty one for a circle."""
    for_ever, seen = True, {url}
    while url in known.moved:
        url, permanent = known.moved[url]
        for_ever = for_ever and permanent
        if url in seen or len(seen) > MOST_REDIRECTS:
            return "", for_ever
        seen.add(url)
    return url, for_ever


def _missing_places(wanted: Iterable[tuple[str, str]], known: _Known, pages: _Pages) -> set[tuple[str, str]]:
    """The fragments, with their URLs, that lead nowhere on their page."""
    by_page: dict[str, set[tuple[str, str]]] = {}
    for url, fragment in wanted:
        by_page.setdefault(_end(url, known)[0], set()).add((url, fragment))
    missing = set()
    for url in sorted(by_page.keys() & known.stored.keys()):
        page = pages.read(url)
        there = places(page) if page is not None else None
        if there is not None:
            missing |= {key for key in by_page[url] if key[1] not in there and unquote(key[1]) not in there}
    return missing


def _outside(
    links: Iterable[tuple[str, str]], known: _Known, settings: Settings, named: NamedAddresses, progress: Progress
) -> dict[str, Outside]:
    urls = {url for url, fragment in links if not fragment} - known.broken.keys() - known.moved.keys()
    urls |= {end for url in known.moved if (end := _end(url, known)[0]) in known.out_of_scope}
    return ask_all(sorted(urls), settings, named.reach, lambda done: progress("asked", done, len(urls)))


def _found(
    links: dict[tuple[str, str], dict[str, str]],
    known: _Known,
    missing: set[tuple[str, str]],
    asked: dict[str, Outside],
) -> Iterator[BrokenLink]:
    for (url, fragment), on in links.items():
        made = [LinkFrom(*each) for each in sorted(on.items())]
        if fragment:
            if (url, fragment) in missing:
                name = f"the page has no part named {unquote(fragment)}"
                yield BrokenLink("fragment", f"{url}#{fragment}", 200, name, "", len(made), made)
            continue
        end, for_ever = _end(url, known)
        answer = asked.get(end, Outside())
        status, reason = known.broken.get(end, (answer.status, answer.problem))
        if not end:
            reason = "redirects in a circle"
        target = answer.target or end if for_ever else ""
        if reason:
            yield BrokenLink("broken", url, status, reason, end if end != url else "", len(made), made)
        elif target and target != url:
            yield BrokenLink("redirect", url, answer.status or 301, "moved for good", target, len(made), made)
