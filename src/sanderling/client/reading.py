"""Turns a finished fetch into the visit that is reported: its outcome, its text and its links."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace
from xxhash import xxh3_128_digest

from sanderling.client.archive import Archive
from sanderling.client.arrival import (
    PERMANENT,
    REDIRECTS,
    Arrival,
    ParsedVisit,
    arrival_of,
    has_page,
    is_success,
    is_temporary,
    status_of,
)
from sanderling.client.contents import ContentReader, Detector, Read
from sanderling.client.exchange import ANSWER, REQUISITE, SITEMAP, exchange_of, rendered_exchange
from sanderling.client.fetch import Fetch, skipped_types
from sanderling.client.keeping import body_filter
from sanderling.client.lines import numbers_of
from sanderling.client.repetition import Repetition
from sanderling.client.sketch import Sketch, sketch
from sanderling.client.sources import read_form_answer, read_sitemap
from sanderling.client.unread import (
    behind,
    is_unchanged,
    not_shown,
    put_off,
    same_text,
    unanswered,
    unchanged,
    unwanted,
)
from sanderling.documents.html import directives
from sanderling.documents.links import pack
from sanderling.documents.reading import media_type
from sanderling.documents.unreadable import UNREADABLE
from sanderling.model import Kind, Outcome, Stored, Task, Visit
from sanderling.model.reasons import reason
from sanderling.settings import Settings
from sanderling.urls import identity, redirected

if TYPE_CHECKING:  # loaded only by crawls with extractors or a topic
    from sanderling.documents.extracting import Extracted, ReadPage
    from sanderling.topics.judging import Judge

_TAG = b"x-robots-tag"

_PURPOSES: dict[int, str] = {Kind.SOURCE: SITEMAP, Kind.ANSWER: ANSWER, Kind.REQUISITE: REQUISITE}

# Sitemaps beyond these are archived each time they are read.
_MOST_SITEMAPS = 10_000

# Called with the id of a page before it is parsed and with 0 after. If the client dies, the page is
# known.
Mark = Callable[[int], None]
# Runs the user's extractors on a page.
Extract = Callable[["ReadPage"], "Extracted"]


class Reader:
    """Reads and archives what was fetched."""

    def __init__(
        self, settings: Settings, archive: Archive, mark: Mark, detector: Detector, extract: Extract | None = None,
        judge: "Judge | None" = None,
    ) -> None:  # fmt: skip
        self._archive = archive
        self._mark = mark
        self._extract = extract
        self._judge = judge
        self._contents = ContentReader(settings, detector, judge, keep_tree=extract is not None)
        self._filter = body_filter(settings)
        self._revisit_records = settings.revisit_records
        self._sitemaps: dict[int, bytes] = {}  # digests of those that this client archived last
        self._repetition = Repetition()
        self._skip = skipped_types(settings) or ("\0",)

    def read(self, fetches: Sequence[Fetch]) -> list[Visit]:
        """Makes the visits of some fetches.

        Each step runs over all pages before the next step begins, so that its code and tables stay
        in the processor's caches. Page by page, a page takes 60 us more.
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

    def _keep_sitemap(self, fetch: Fetch) -> None:
        """Archives a sitemap that is not as it was: a refresh reads it every few minutes."""
        id, digest = fetch.task.id, xxh3_128_digest(fetch.response.body)
        if self._revisit_records or self._sitemaps.pop(id, None) != digest:
            self.keep(fetch, SITEMAP)
        self._sitemaps[id] = digest
        if len(self._sitemaps) > _MOST_SITEMAPS:
            del self._sitemaps[next(iter(self._sitemaps))]

    def _open(self, fetch: Fetch) -> ParsedVisit:
        """Makes the visit of a fetch by the first of these steps that applies."""
        task, response = fetch.task, fetch.response
        if response.error:
            return unanswered(task, response)
        arrival = arrival_of(fetch)
        if is_temporary(response.status):
            self.keep(fetch, _PURPOSES.get(task.kind, ""))
            return put_off(arrival)
        if (without_browser := not_shown(task, response)) is not None:
            return without_browser
        if task.kind == Kind.SOURCE:
            self._keep_sitemap(fetch)
            return read_sitemap(arrival, self._contents)
        if task.kind == Kind.ANSWER:
            self.keep(fetch, ANSWER)
            return read_form_answer(arrival, self._contents)
        digest = xxh3_128_digest(arrival.body)
        if is_unchanged(arrival, digest):
            return unchanged(arrival, self._revisit_records)
        if is_success(response.status) and arrival.mime.startswith(self._skip):
            return unwanted(task, reason("skipped-type", arrival.mime))
        if task.kind == Kind.REQUISITE:
            return self._requisite(arrival, digest)
        return self._page(arrival, digest)

    def _page(self, arrival: Arrival, digest: bytes) -> ParsedVisit:
        """Reads a page that is new or has changed, and what stands where a page should be."""
        fetch, headers, known, body, mime, charset = arrival
        task, response, rendered = fetch.task, fetch.response, fetch.response.rendered
        outcome, read = self._outcome(arrival)
        if rendered is not None and outcome is Outcome.PAGE:
            read = self._contents.with_document(read, task.url, response.body)
        if self._filter is not None and outcome is Outcome.PAGE and self._filter.says_the_same(task, read):
            return same_text(arrival, read.found, self._revisit_records)
        if self._judge is not None:
            read = _judged(self._judge, read)
        extracted, failed = b"", dict[str, str]()
        if self._extract is not None and outcome is Outcome.PAGE:
            extracted, failed, followed = self._extract(_to_extract(arrival, read))
            read = self._contents.followed(read, followed) if followed else read
        if read.by_topic and outcome is Outcome.PAGE:
            from sanderling.topics.judging import with_topics

            extracted = with_topics(extracted, read.by_topic)
        visit = Visit(
            id=task.id,
            outcome=outcome,
            status=status_of(response),
            at=response.since,
            size=response.size,
            reason=read.reason or response.not_rendered or (reason("cut-short") if response.cut_short else ""),
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
            login=bool(response.session),
            permanent=response.status in PERMANENT,
            fingerprint=read.fingerprint,
            links=read.links,
            images=read.images,
            found=[*read.found, *behind(rendered)],
            relevance=read.relevance,
            extracted=extracted,
            failed_extractors=failed,
            forms=list(read.forms),
            words=self._contents.vocabulary(read.words),
            repeats=read.words is not None and self._repetition.found(task.url, read.words),
            completes=bool(task.digest) and _completes(response.body, task.digest, rendered is not None),
        )
        if rendered is None:
            exchange = exchange_of(fetch, headers, body, mime)
        else:
            exchange = rendered_exchange(fetch, headers, rendered, unchanged=False)
        if self._filter is not None and outcome is Outcome.PAGE:
            visit, exchange = self._filter.filtered(visit, exchange, task.url, read)
        return ParsedVisit(visit, task.url, read.words, exchange, read.condense)

    def _requisite(self, arrival: Arrival, digest: bytes) -> ParsedVisit:
        """A file of a page: kept as it is, and read only for the files that it needs."""
        fetch, headers, known, body, mime, _ = arrival
        task, response = fetch.task, fetch.response
        if response.truncated:
            return unwanted(task, reason("too-large", fetch.request.limit))
        outcome, read = self._outcome(arrival)
        visit = Visit(
            id=task.id, outcome=outcome, status=response.status, at=response.since, size=response.size,
            reason=read.reason, mime=mime, charset=read.charset, etag=known.get(b"etag", ""),
            modified=known.get(b"last-modified", ""), digest=digest, canonical=read.canonical,
            login=bool(response.session), permanent=response.status in PERMANENT, fingerprint=read.fingerprint,
            links=read.links, found=list(read.found),
        )  # fmt: skip
        return ParsedVisit(visit, task.url, None, exchange_of(fetch, headers, body, mime, purpose=REQUISITE))

    def _outcome(self, arrival: Arrival) -> tuple[Outcome, Read]:
        fetch, headers, known, body, mime, charset = arrival
        status, url = fetch.response.status, fetch.task.url
        if is_success(status) and fetch.task.kind == Kind.REQUISITE:
            return Outcome.PAGE, self._contents.read_requisite(url, body, mime, charset, bool(fetch.task.digest))
        if has_page(fetch.response):
            said = [v.decode("latin-1") for k, v in headers if k.lower() == _TAG] if _TAG in known else []
            forbidden = directives(said, self._contents.names)
            return Outcome.PAGE, self._contents.read(url, body, mime, charset, forbidden, bool(fetch.task.digest))
        if status in REDIRECTS:
            return self._redirect(fetch.task, fetch.response.location(), status in PERMANENT)
        if status in (404, 410):
            return Outcome.GONE, Read()
        return Outcome.FAILED, Read(reason=reason("status", status))

    def _redirect(self, task: Task, location: str, permanent: bool) -> tuple[Outcome, Read]:
        url = task.url
        target = redirected(url, location) if location else None
        if target is None:
            why = reason("redirect-invalid", repr(location[:200])) if location else reason("redirect-nowhere")
            return Outcome.FAILED, Read(reason=why)
        if target == url:
            return Outcome.FAILED, Read(reason=reason("redirect-self"))
        found = self._contents.meet(target, task.kind)
        id = identity(target)
        return Outcome.REDIRECT, Read(
            links=pack([id]), found=[found] if found else [], canonical=id if permanent else 0
        )


def _judged(judge: "Judge", read: Read) -> Read:
    """With the relevance of the page, if it has words, and of the links that were found without
    their anchors."""
    by_topic = judge.each(read.title, read.words, read.linked) if read.words else {}
    if by_topic:
        relevance = max(by_topic.values())
    else:
        relevance = judge.page(read.title, read.words, read.linked) if read.words else 0.0
    return read._replace(relevance=relevance, by_topic=by_topic, found=judge.links(read.found))


def _to_extract(arrival: Arrival, read: Read) -> "ReadPage":
    from sanderling.documents.extracting import ReadPage

    named = {name.decode("latin-1"): value for name, value in arrival.known.items()}
    return ReadPage(
        url=arrival.fetch.task.url, status=arrival.fetch.response.status, headers=named, mime=arrival.mime,
        language=read.language, title=read.title, text=read.words or "", tree=read.tree, body=arrival.body,
    )  # fmt: skip


def _completes(body: bytes, digest: bytes, is_rendered: bool) -> bool:
    """Whether a page that is visited again is one that was cut short before, or was kept as it was
    sent and is rendered now."""
    if is_rendered:
        return xxh3_128_digest(body) == digest
    from sanderling.client.cutting import completes

    return completes(body, digest)


def _condensed(opened: ParsedVisit) -> bytes:
    if opened.condense is None or opened.words is None:
        return opened.visit.fingerprint
    try:
        return opened.condense(opened.words, opened.visit.links)
    except UNREADABLE:
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
        lines=numbers_of(opened.words, opened.url) if opened.words is not None else None,
        fingerprint=fingerprint,
        stored=stored,
    )
