"""Turns a finished fetch into the visit that is reported: its outcome, its text and its links."""

import time
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

import turbohtml
from msgspec.structs import replace
from xxhash import xxh3_128_digest

from sanderling.client.archive import Archive
from sanderling.client.exchange import ANSWER, SITEMAP, exchange_of, rendered_exchange
from sanderling.client.fetch import Fetch, skipped_types
from sanderling.client.fetcher import Rendered, Response
from sanderling.client.keeping import body_filter, without_body
from sanderling.client.sketch import Sketch, sketch
from sanderling.documents import sitemaps
from sanderling.documents.charsets import decode
from sanderling.documents.formats import kind_of
from sanderling.documents.html import HtmlPage, directives
from sanderling.documents.links import LinkTable, pack
from sanderling.documents.reading import READERS, as_document, dated, hrefs_of, media_type
from sanderling.documents.visible import visible_text as shown
from sanderling.model import Exchange, Found, Kind, Outcome, Stored, Task, Visit
from sanderling.model.forms import Form, Turner
from sanderling.model.reasons import reason
from sanderling.network import names
from sanderling.processes.sandboxed import ChildFailed
from sanderling.settings import Settings
from sanderling.urls import identity, join, redirected

if TYPE_CHECKING:  # loaded only by crawls with extractors or a topic
    from sanderling.documents.extracting import Extracted, ReadPage
    from sanderling.topics.judging import Judge

REDIRECTS = (301, 302, 303, 307, 308)
PERMANENT = (301, 308)

_TAG = b"x-robots-tag"

# A host that wants a longer wait is asked again by the next run. In seconds.
LONGEST_RETRY_AFTER = 3600.0

_PURPOSES: dict[int, str] = {Kind.SOURCE: SITEMAP, Kind.ANSWER: ANSWER}
_CHOKED = (ValueError, TypeError, LookupError, MemoryError, RecursionError, AttributeError)

# Called with the id of a page before it is parsed and with 0 after. If the client dies, the page is known.
Mark = Callable[[int], None]

# The first step reads the tree of a page, which may then be freed. The second makes the fingerprint from its result,
# the text and the packed links.
Condense = Callable[[str, bytes], bytes]
Fingerprinter = Callable[[turbohtml.Document, str], Condense]
# Makes the fingerprint of an image.
DescribeImage = Callable[[bytes], bytes]


class Detector(Protocol):
    """Makes the fingerprints of pages and images."""

    @property
    def fingerprint(self) -> Fingerprinter: ...

    @property
    def describe_image(self) -> DescribeImage: ...


# Runs the user's extractors on a page.
Extract = Callable[["ReadPage"], "Extracted"]


class Read(NamedTuple):
    """The content of a document."""

    charset: str = ""
    language: str = ""
    title: str = ""
    words: str | None = None  # its text, if it has one
    links: bytes = b""
    found: Sequence[Found] = ()
    noindex: bool = False
    reason: str = ""
    canonical: int = 0
    fingerprint: bytes = b""
    condense: Condense | None = None  # of a page that is visited again
    tree: turbohtml.Document | None = None  # when there are extractors
    relevance: float = 0.0  # when there is a topic
    forms: Sequence[Form] = ()
    turners: Sequence[Turner] = ()


class ParsedVisit(NamedTuple):
    """A visit before its text is sketched and its response is archived."""

    visit: Visit
    url: str
    words: str | None = None
    exchange: Exchange | None = None
    condense: Condense | None = None


class Reader:
    """Reads and archives what was fetched."""

    def __init__(
        self, settings: Settings, archive: Archive, mark: Mark, detector: Detector, extract: Extract | None = None,
        judge: "Judge | None" = None,
    ) -> None:  # fmt: skip
        self._settings = settings
        self._archive = archive
        self._mark = mark
        self._detector = detector
        self._extract = extract
        self._judge = judge
        self._filter = body_filter(settings)
        self._links = LinkTable()
        self._names = names(settings)
        self._skip = skipped_types(settings) or ("\0",)

    def read(self, fetches: Sequence[Fetch]) -> list[Visit]:
        """Makes the visits of some fetches.

        Each step runs over all pages before the next step begins, so that its code and tables stay in the processor's
        caches. Page by page, a page takes 60 us more.
        """
        opened, sketches, condensed, places = [], [], [], []
        for fetch in fetches:
            self._mark(fetch.task.id)
            opened.append(self._open(fetch))
        for each in opened:
            self._mark(each.visit.id)
            sketches.append(sketch(each.words, each.url) if each.words is not None else None)
        for each in opened:
            self._mark(each.visit.id)
            condensed.append(_condensed(each))
        for each in opened:
            self._mark(each.visit.id)
            places.append(self._archive.add(each.exchange) if each.exchange else None)
        self._mark(0)
        return [*map(_complete, opened, sketches, condensed, places)]

    def keep(self, fetch: Fetch, purpose: str = "") -> None:
        """Archives a response that is no version of a page."""
        response = fetch.response
        if not response.error:
            mime, _ = media_type(response.value_of(b"content-type"))
            self._archive.add(exchange_of(fetch, response.headers(), response.body, mime, purpose=purpose))

    def _open(self, fetch: Fetch) -> ParsedVisit:
        task, response = fetch.task, fetch.response
        status = response.status
        if response.error:
            outcome = Outcome.FAILED if response.hopeless else Outcome.RETRY
            visit = Visit(id=task.id, outcome=outcome, at=time.monotonic(), reason=response.error)
            return ParsedVisit(visit, task.url)
        headers = response.headers()
        known = {name.lower(): value.decode("utf-8", "replace") for name, value in headers}
        if is_temporary(status):
            visit = Visit(
                id=task.id, outcome=Outcome.RETRY, status=status, at=time.monotonic(),
                reason=reason("status", status), retry_after=_retry_after(known.get(b"retry-after", "")),
            )  # fmt: skip
            self.keep(fetch, _PURPOSES.get(task.kind, ""))
            return ParsedVisit(visit, task.url)
        rendered, body = response.rendered, response.body
        if "#" in task.url and 200 <= status < 300 and (rendered is None or rendered.gone):
            return _missing(task, response)
        mime, charset = media_type(known.get(b"content-type", ""))
        if rendered is not None:
            # What was rendered has no validators: another DOM may come from the same document.
            body, mime, charset = rendered.html, "text/html", "utf-8"
            known = {name: value for name, value in known.items() if name not in (b"etag", b"last-modified")}
            known[b"etag"] = rendered.made_from
        elif response.not_rendered and task.digest:
            # The page as it was sent would look like a change to what its readers see.
            visit = Visit(id=task.id, outcome=Outcome.RETRY, at=time.monotonic(), reason=response.not_rendered)
            return ParsedVisit(visit, task.url)
        if task.kind == Kind.SOURCE:
            self.keep(fetch, SITEMAP)
            return self._source(task, response, body, charset)
        if task.kind == Kind.ANSWER:
            self.keep(fetch, ANSWER)
            return self._answer(task, response, body, mime, charset)
        digest = xxh3_128_digest(body)
        as_before = rendered is not None and rendered.as_before
        if (status == 304 and task.digest) or (200 <= status < 300 and (digest == task.digest or as_before)):
            visit = Visit(
                id=task.id, outcome=Outcome.UNCHANGED, status=status, at=response.since,
                size=response.size, etag=known.get(b"etag", ""), modified=known.get(b"last-modified", ""),
                found=_behind(rendered),
            )  # fmt: skip
            if rendered is not None:
                return ParsedVisit(visit, task.url, None, rendered_exchange(fetch, headers, rendered, True))
            revisit = "304" if status == 304 else "same"
            return ParsedVisit(visit, task.url, None, exchange_of(fetch, headers, body, mime, revisit))
        if 200 <= status < 300:
            if mime.startswith(self._skip):
                visit = Visit(
                    id=task.id, outcome=Outcome.EXCLUDED, at=time.monotonic(), reason=reason("skipped-type", mime)
                )
                return ParsedVisit(visit, task.url)
            said = [v.decode("latin-1") for k, v in headers if k.lower() == _TAG] if _TAG in known else []
            again = bool(task.digest)
            outcome, read = (
                Outcome.PAGE,
                self._content(task.url, body, mime, charset, directives(said, self._names), again),
            )
        elif status in REDIRECTS:
            outcome, read = self._redirect(task.url, response.location(), status in PERMANENT)
        elif status in (404, 410):
            outcome, read = Outcome.GONE, Read()
        else:
            outcome, read = Outcome.FAILED, Read(reason=reason("status", status))
        if self._judge is not None:
            read = _judged(self._judge, read)
        extracted, failed = b"", dict[str, str]()
        if self._extract is not None and outcome is Outcome.PAGE:
            extracted, failed = self._extract(_page(fetch, known, mime, body, read))
        visit = Visit(
            id=task.id,
            outcome=outcome,
            status=status,
            at=response.since,
            size=response.size,
            reason=read.reason or response.not_rendered,
            mime=mime,
            charset=read.charset or charset or "",
            language=read.language,
            title=read.title,
            etag=known.get(b"etag", ""),
            modified=known.get(b"last-modified", ""),
            digest=digest,
            canonical=identity(rendered.canonical) if rendered and rendered.canonical else read.canonical,
            truncated=response.truncated or (rendered is not None and rendered.truncated),
            noindex=read.noindex,
            permanent=status in PERMANENT,
            fingerprint=read.fingerprint,
            links=read.links,
            found=[*read.found, *_behind(rendered)],
            relevance=read.relevance,
            extracted=extracted,
            failed_extractors=failed,
            forms=list(read.forms),
            words=self._vocabulary(read.words),
        )
        exchange = (
            exchange_of(fetch, headers, body, mime)
            if rendered is None
            else rendered_exchange(fetch, headers, rendered, False)
        )
        if self._filter is not None and outcome is Outcome.PAGE and (why := self._filter.objection(task.url, mime)):
            exchange = without_body(exchange, why)
            visit = replace(visit, reason=visit.reason or reason("body-left-out", why))
        return ParsedVisit(visit, task.url, read.words, exchange, read.condense)

    def _content(
        self, url: str, body: bytes, mime: str, charset: str | None, said: tuple[bool, bool], again: bool
    ) -> Read:
        """Reads a body; `said` is whether the headers forbid to follow its links and to index it.

        Only pages that are visited `again` get a fingerprint. Most pages never change, and the first version of a page
        that does is in the archive.
        """
        nofollow, noindex = said
        try:
            kind = kind_of(body, mime, charset)
            if kind == "html":
                return self._html(url, body, charset, said, again)
            if kind == "bytes":
                drawn = self._detector.describe_image(body) if again and mime.startswith("image/") else b""
                return Read(noindex=noindex, fingerprint=drawn)
            if kind == "text":
                words = decode(body, charset)
                fingerprint = self._of_text(words, url) if again else b""
                return Read(words=words, noindex=noindex, fingerprint=fingerprint)
            text = READERS[kind](body, charset)
            links, new = self._links.resolve(url, [] if nofollow and not self._settings.ignore_robots else text.links)
            return Read(
                title=text.title,
                words=text.text,
                fingerprint=self._of_text(text.text, url) if again else b"",
                links=links,
                found=(dated(url, body, charset, links) if kind == "xml" else []) + [found for _, found in new],
                noindex=noindex,
            )
        except ChildFailed as error:
            return Read(reason=reason("unread", error), noindex=noindex)
        except _CHOKED as error:
            # A page that breaks a parser is archived unread. It must not end the client.
            return Read(reason=reason("unread", f"{type(error).__name__}: {error}")[:200])

    def _html(self, url: str, body: bytes, charset: str | None, said: tuple[bool, bool], again: bool) -> Read:
        page = HtmlPage(body, charset, url)
        follow_nofollow = self._settings.follow_nofollow or self._settings.ignore_robots
        head = page.head(self._names, follow_nofollow)
        nofollow, noindex = said[0] or head.nofollow, said[1] or head.noindex
        if nofollow and not self._settings.ignore_robots:
            links = b""
            found: Sequence[Found] = ()
        else:
            hrefs, spelled = hrefs_of(page, head, follow_nofollow)
            links, new = self._links.resolve(head.base, hrefs)
            written = {after: before for before, after in spelled.items()}
            named = [written.get(href, href) for href, _ in new]
            if self._judge is None:
                texts = page.anchor_texts(named)
                found = [Found(each.id, each.url, text) for (_, each), text in zip(new, texts, strict=True)]
            else:
                found = [
                    each._replace(anchor=text, relevance=self._judge.link(text, around, each.url))
                    for (_, each), (text, around) in zip(new, page.anchor_surroundings(named), strict=True)
                ]
            if self._settings.images:  # fetched like links, but not part of the link graph
                found += [each for _, each in self._links.resolve(head.base, page.images())[1]]
        stands_for = join(head.base, head.canonical) if head.canonical else None
        language, title = page.language(), page.title()
        forms: Sequence[Form] = ()
        if self._settings.forms != "none":
            from sanderling.documents.forms import forms_of

            forms = forms_of(page.document, head.base)
        condense = self._detector.fingerprint(page.document, url) if again else None
        words, tree = page.text(spent=self._extract is None), page.document if self._extract is not None else None
        return Read(
            page.charset, language, title, words, links, found, noindex, condense=condense, tree=tree, forms=forms,
            canonical=identity(stands_for) if stands_for and stands_for != url else 0,
        )  # fmt: skip

    def _vocabulary(self, text: str | None) -> str:
        """The words of a page, for a crawl that sends forms."""
        if not text or self._settings.forms == "none":
            return ""
        from sanderling.documents.vocabulary import words_of

        return words_of(text)

    def _of_text(self, words: str, url: str) -> bytes:
        document = as_document(words)
        return self._detector.fingerprint(document, url)(shown(document), b"")

    def _source(self, task: Task, response: Response, body: bytes, charset: str | None) -> ParsedVisit:
        """Reads a sitemap. It is not a page: it has no status and is not counted."""
        found: list[Found] = []
        words, why = None, ""
        if response.status in REDIRECTS:
            target = redirected(task.url, response.location())
            outcome = Outcome.SOURCE
            if target and target != task.url:
                found = [Found(identity(target), target, "", Kind.SOURCE)]
        elif 200 <= response.status < 300:
            outcome = Outcome.SOURCE
            try:
                for url, kind, modified in sitemaps.read(body, charset, task.url):
                    self._links.meet(url)
                    found.append(Found(identity(url), url, "", kind, modified))
                if self._judge is not None:
                    found = [_judged_link(self._judge, each) for each in found]
            except sitemaps.NotASitemap as error:
                # Keep the text: the host may answer the same for pages that do not exist.
                read = self._content(task.url, body, "text/html", None, (True, True), False)
                outcome, words, why = Outcome.GONE, read.words, reason("not-a-sitemap", error)
        else:
            outcome, why = Outcome.GONE, reason("status", response.status)
        visit = Visit(
            id=task.id, outcome=outcome, at=response.since, size=response.size, reason=why,
            found=found, truncated=response.truncated,
        )  # fmt: skip
        return ParsedVisit(visit, task.url, words)

    def _answer(self, task: Task, response: Response, body: bytes, mime: str, charset: str | None) -> ParsedVisit:
        """Reads the answer to a form: all that it leads to, with the pages on which its results go on.

        It is no page, and has no status as such. The links of an answer are reported whole, because what it brings
        is told from them.
        """
        from sanderling.documents.answers import read_answer

        status, read = response.status, Read()
        if 200 <= status < 300 and kind_of(body, mime, charset) == "html":
            try:
                page = HtmlPage(body, charset, task.url)
                links, found, turners = read_answer(page, self._names)
                read = Read(words=page.text(), links=links, found=found, turners=turners)
            except _CHOKED as error:
                read = Read(reason=reason("unread", f"{type(error).__name__}: {error}")[:200])
            outcome = Outcome.SOURCE
        elif status in REDIRECTS:
            target = redirected(task.url, response.location())
            if target is not None and target != task.url:
                id = identity(target)
                read = Read(links=pack([id]), found=[Found(id, target, "")])
            outcome = Outcome.SOURCE
        else:
            outcome, read = Outcome.FAILED, Read(reason=reason("status", status))
        visit = Visit(
            id=task.id, outcome=outcome, at=response.since, size=response.size, reason=read.reason, links=read.links,
            found=list(read.found), truncated=response.truncated, turners=list(read.turners),
            words=self._vocabulary(read.words),
        )  # fmt: skip
        return ParsedVisit(visit, task.url, read.words)

    def _redirect(self, url: str, location: str, permanent: bool) -> tuple[Outcome, Read]:
        target = redirected(url, location) if location else None
        if target is None:
            why = reason("redirect-invalid", repr(location[:200])) if location else reason("redirect-nowhere")
            return Outcome.FAILED, Read(reason=why)
        if target == url:
            return Outcome.FAILED, Read(reason=reason("redirect-self"))
        found = self._links.meet(target)
        id = identity(target)
        return Outcome.REDIRECT, Read(
            links=pack([id]), found=[found] if found else [], canonical=id if permanent else 0
        )


def _page(fetch: Fetch, headers: dict[bytes, str], mime: str, body: bytes, read: Read) -> "ReadPage":
    from sanderling.documents.extracting import ReadPage

    named = {name.decode("latin-1"): value for name, value in headers.items()}
    return ReadPage(
        url=fetch.task.url, status=fetch.response.status, headers=named, mime=mime, language=read.language, title=read.title,
        text=read.words or "", tree=read.tree, body=body,
    )  # fmt: skip


def _judged(judge: "Judge", read: Read) -> Read:
    """With the relevance of the page, if it has words, and of the links that were found without their anchors."""
    return read._replace(
        relevance=judge.page(read.title, read.words) if read.words else 0.0,
        found=[each if each.relevance else _judged_link(judge, each) for each in read.found],
    )


def _judged_link(judge: "Judge", found: Found) -> Found:
    return found._replace(relevance=judge.link(found.anchor, "", found.url))


def _condensed(opened: ParsedVisit) -> bytes:
    if opened.condense is None or opened.words is None:
        return opened.visit.fingerprint
    try:
        return opened.condense(opened.words, opened.visit.links)
    except _CHOKED:
        return b""


def _complete(opened: ParsedVisit, roughly: Sketch | None, fingerprint: bytes, stored: Stored | None) -> Visit:
    if roughly is None:
        return replace(opened.visit, fingerprint=fingerprint, stored=stored) if stored else opened.visit
    digest, simhash, gist, core = roughly
    return replace(
        opened.visit,
        text_digest=digest,
        simhash=simhash,
        gist=gist,
        core=core,
        fingerprint=fingerprint,
        stored=stored,
    )


def _behind(rendered: Rendered | None) -> list[Found]:
    """The URLs that only a browser can show."""
    return [Found(identity(url), url, text) for url, text in rendered.found] if rendered is not None else []


def _missing(task: Task, response: Response) -> ParsedVisit:
    """A URL that only a browser shows, and it could not."""
    at = time.monotonic()
    if response.rendered is not None:
        visit = Visit(id=task.id, outcome=Outcome.GONE, status=404, at=at, reason=reason("state-gone"))
    elif response.not_rendered:
        visit = Visit(id=task.id, outcome=Outcome.RETRY, at=at, reason=response.not_rendered)
    else:
        visit = Visit(id=task.id, outcome=Outcome.FAILED, at=at, reason=reason("state-needs-browser"))
    return ParsedVisit(visit, task.url)


def is_temporary(status: int) -> bool:
    """Whether a status says that another try may bring the page."""
    return status in (408, 429) or status >= 500


def _retry_after(value: str) -> float:
    """Seconds from a Retry-After header, which is a number or a date."""
    if value.isascii() and value.isdigit():
        return min(float(value), LONGEST_RETRY_AFTER)
    try:
        return min(max(0.0, parsedate_to_datetime(value[:100]).timestamp() - time.time()), LONGEST_RETRY_AFTER)
    except (ValueError, TypeError, OverflowError, IndexError, OSError):
        return 0.0
