"""The only way from the browser to the network: every request of a page is judged here and answered
by our own fetcher.

So robots rules, private addresses, size limits, proxy, user agent, cookies and the archive are the
same for a rendered page as for any other.
"""

import base64
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec
from xxhash import xxh3_128_digest

from sanderling.browser.page_load import MOST_RELOADS, PageLoad
from sanderling.browser.robots import RobotsBook
from sanderling.browser.sources import PageSource, conditions, is_same, source_of
from sanderling.browser.static_cache import BrowserAnswer, StaticCache, Verified
from sanderling.client.archive import Archive
from sanderling.client.exchange import ROBOTS, SUBRESOURCE, exchange_of
from sanderling.client.fetch import Fetch
from sanderling.client.fetcher import Fetcher, Request, Response, refused
from sanderling.client.polite_host import PoliteHost
from sanderling.documents.reading import media_type
from sanderling.model import Stored, Task
from sanderling.model.reasons import reason
from sanderling.settings import Settings
from sanderling.urls import WEB, origin

# As many requests to one origin at a time as a browser makes.
AT_A_TIME: Final = 6
MOST_REMEMBERED: Final = 20_000
# The kinds of requests that a user may block, by the names of the setting.
BLOCKABLE: Final = {
    "images": ("Image",),
    "fonts": ("Font",),
    "media": ("Media", "TextTrack"),
    "styles": ("Stylesheet",),
    "none": (),
}
# Never answered: they bring no content, or never end.
_POINTLESS: Final = (
    "Ping",
    "CSPViolationReport",
    "Prefetch",
    "Preflight",
    "Manifest",
    "EventSource",
    "WebSocket",
    "Icon",
)
# What a page still gets that is silent: parts of an application, which nobody makes for a request.
_INERT: Final = ("Script", "Stylesheet")
_METHODS: Final = ("GET", "HEAD", "POST")
# Headers of a request that our fetcher sets, or that belong to the browser's own cache and
# connection.
_OURS: Final = frozenset(
    ("host", "user-agent", "accept-encoding", "connection", "content-length", "cookie", "cache-control", "pragma", "range",
     "if-none-match", "if-modified-since", "upgrade-insecure-requests", "te", "priority", "dnt", "purpose")
)  # fmt: skip
# Headers of a response that describe the bytes on the wire, or make the browser do something beside
# showing the page.
_NOT_PASSED: Final = frozenset(
    (b"content-encoding", b"content-length", b"transfer-encoding", b"connection", b"strict-transport-security",
     b"alt-svc", b"refresh", b"speculation-rules", b"clear-site-data", b"report-to", b"nel", b"reporting-endpoints",
     b"content-disposition", b"link", b"origin-agent-cluster", b"accept-ch", b"critical-ch")
)  # fmt: skip

# Tells the browser something about a request: a method of the protocol and its parameters.
Tell = Callable[[str, dict[str, Any]], object]
OnResponse = Callable[[Response], None]


class _Asked(msgspec.Struct, rename="camel"):
    url: str
    method: str
    headers: dict[str, str] = {}
    post_data: str = ""
    post_data_entries: list[dict[str, str]] = []

    @property
    def sender(self) -> str:
        """The origin that the browser says the request comes from; empty if it does not say."""
        return _sender(self.headers.items())

    def body(self) -> bytes:
        if self.post_data_entries:
            return b"".join(base64.b64decode(entry.get("bytes", "")) for entry in self.post_data_entries)
        return self.post_data.encode()


class Paused(msgspec.Struct, rename="camel"):
    """A request that the browser holds until it is answered."""

    request_id: str
    request: _Asked
    frame_id: str = ""
    resource_type: str = ""

    @property
    def kind(self) -> str:
        """The type of the request. The browser calls that of a page's icon, for its own use,
        `Other`."""
        is_icon = self.resource_type == "Other" and self.request.headers.get("Accept", "").startswith("image/")
        return "Icon" if is_icon else self.resource_type


def blocked_files(settings: Settings) -> tuple[str, ...]:
    """What pages do not get. Who wants all files of a page wants those that its scripts ask for."""
    usual = settings.block == Settings().block
    return () if settings.requisites and usual else settings.block


class Door:
    """Answers the requests of all pages of one client."""

    def __init__(self, settings: Settings, fetcher: Fetcher, archive: Archive) -> None:
        self._settings = settings
        self._fetcher = fetcher
        self._archive = archive
        self._logins = {login.place for login in settings.login}
        self._blocked = {kind for name in blocked_files(settings) for kind in BLOCKABLE[name]}
        self._cache = StaticCache()
        self._shared = Verified()  # files that many pages are made from
        self._robots = RobotsBook(settings.user_agent, self._send_robots)
        self._waiting: dict[Response, OnResponse] = {}  # for requests that were sent
        self._homes: dict[Response, str] = {}
        self._busy: Counter[str] = Counter()  # requests in flight by origin
        self._queues: dict[str, deque[tuple[Request, OnResponse]]] = {}
        self._archived: OrderedDict[str, tuple[bytes, Stored]] = OrderedDict()

    def needs_session(self, load: PageLoad, paused: Paused) -> bool:
        """Whether a request goes to the page's origin, and the user has a session there."""
        return load.origin in self._logins and origin(paused.request.url) == load.origin

    def answer(self, load: PageLoad, paused: Paused, tell: Tell, own: bool = False) -> None:
        """Answers a request of a page, now or later. Its `own` frames use the user's session."""
        url, kind = paused.request.url.partition("#")[0], paused.kind
        if kind == "Document" and origin(url) != load.origin:
            load.foreign.add(paused.frame_id)
        if kind == "Document" and paused.frame_id == load.frame:
            self._answer_document(load, paused, url, tell)
            return
        if why := self._objection(load, paused, url):
            self._refuse(load, paused, url, why, tell)
            return
        kept = self._cache.find(self._cached_as(load, url, own), paused.request.sender)
        if paused.request.method == "GET" and kept is not None:
            load.made_of(kept.source)
            _fulfil(paused, kept, tell)
            load.changed()
            return
        request = self._request(load, paused.request, url, own)
        if why := refused(request, self._settings):
            self._refuse(load, paused, url, why, tell)
            return
        load.in_flight += 1

        def decided(allowed: bool) -> None:
            if allowed:
                self._send(request, lambda response: self._pass_on(load, paused, request, response, tell))
            else:
                load.in_flight -= 1
                self._refuse(load, paused, url, reason("robots"), tell)

        if self._settings.ignore_robots:
            decided(True)
        else:
            self._robots.ask(request, decided)

    def take(self, responses: list[Response]) -> list[Response]:
        """Takes the responses to requests of pages out of all that have finished; returns the
        others."""
        others = []
        for response in responses:
            on_response = self._waiting.pop(response, None)
            if on_response is None:
                others.append(response)
            else:
                self._next(self._homes.pop(response))
                on_response(response)
        return others

    def check(self, load: PageLoad, sources: Sequence[PageSource], done: Callable[[bool], None]) -> None:
        """Says whether all answers that a page was made from are still the same, without a
        browser."""
        left = len(sources)

        def settle(same: bool) -> None:
            nonlocal left
            if left > 0:
                left = left - 1 if same else 0
                if not left:
                    done(same)

        if not sources:
            done(True)
        for source in sources:
            self._check(load, source, settle)

    def _check(self, load: PageLoad, source: PageSource, settle: Callable[[bool], None]) -> None:
        if source.shared:
            kept = self._cache.find(self._cached_as(load, source.url, own=True), _sender(source.headers))
            known = (
                kept.source.digest if kept is not None and kept.source is not None else self._shared.find(source.url)
            )
            if known is not None:
                settle(known == source.digest)
                return
        own = origin(source.url) == load.origin
        request = Request(
            source.url, load.trusted and own, self._settings.max_body, conditions(source),
            private=load.private if own else (), session="part" if own else "",
        )  # fmt: skip

        def compare(response: Response) -> None:
            same = is_same(source, response)
            if same and source.shared:
                self._shared.add(source.url, source.digest)
            settle(same)

        if refused(request, self._settings):
            settle(False)
        elif self._settings.ignore_robots:
            self._send(request, compare)
        else:
            self._robots.ask(request, lambda allowed: self._send(request, compare) if allowed else settle(False))

    def _cached_as(self, load: PageLoad, url: str, own: bool) -> str:
        """What a file is kept under. A page or frame of another origin does not get what a session
        of the user's brought."""
        return f"{load.origin} {url}" if own and origin(url) in self._logins else url

    # ---- what a page may have

    def _answer_document(self, load: PageLoad, paused: Paused, url: str, tell: Tell) -> None:
        """A page gets its own document. Where else its scripts want to go is a link, and the page
        stays as it is."""
        load.loads += 1
        if url == load.url and load.loads <= MOST_RELOADS and not load.silent and paused.request.method == "GET":
            _fulfil(paused, self._as_answer(load.document, "GET"), tell)
        else:
            if url != load.url:
                load.lead(url)
            _fail(paused, "Aborted", tell)
            load.finish()  # a page that is left before it has loaded never says that it has
        load.changed()

    def _objection(self, load: PageLoad, paused: Paused, url: str) -> str:
        """Why a request is not answered, if there is a reason that is known at once."""
        kind = paused.kind
        if kind in self._blocked or kind in _POINTLESS:
            return reason("blocked-type", kind)
        if not url.startswith(WEB) or paused.request.method not in _METHODS:
            return reason("blocked-type", f"{paused.request.method} {url.partition(':')[0]}")
        if load.silent and (kind not in _INERT or paused.request.method != "GET"):
            return reason("blocked-type", f"{kind} after a click")
        if load.exploring and paused.request.method == "POST":
            return reason("blocked-type", "POST after an event")
        return reason("page-asks-too-much") if load.spent(kind == "Document") else ""

    def _refuse(self, load: PageLoad, paused: Paused, url: str, why: str, tell: Tell) -> None:
        load.refuse(url, why)
        _fail(paused, "BlockedByClient", tell)
        load.changed()

    def _request(self, load: PageLoad, asked: _Asked, url: str, with_session: bool) -> Request:
        home = origin(url)
        headers = [(k, v) for k, v in asked.headers.items() if _may_be_sent(k, v)]
        if asked.method == "POST" and not any(k.lower() == "origin" for k, _ in headers):
            headers.append(("Origin", load.origin))
        method = "POST" if asked.method == "POST" else "GET"
        body = asked.body() if method == "POST" else b""
        own = home == load.origin
        return Request(
            url, load.trusted and own, self._settings.max_body, tuple(headers), method=method, body=body,
            private=load.private if own else (), session="part" if with_session else "",
        )  # fmt: skip

    # ---- requests

    def _send_robots(self, request: Request, on_response: OnResponse) -> None:
        def keep(response: Response) -> None:
            self._keep(request, response, ROBOTS)
            on_response(response)

        if why := refused(request, self._settings):
            failed = Response()
            failed.error = why
            on_response(failed)
        else:
            self._send(request, keep)

    def _send(self, request: Request, on_response: OnResponse) -> None:
        home = origin(request.url)
        if self._busy[home] >= AT_A_TIME:
            self._queues.setdefault(home, deque()).append((request, on_response))
            return
        self._busy[home] += 1
        response = self._fetcher.start(request)
        self._waiting[response], self._homes[response] = on_response, home

    def _next(self, home: str) -> None:
        self._busy[home] -= 1
        if queue := self._queues.get(home):
            self._send(*queue.popleft())
        else:
            self._queues.pop(home, None)
            if not self._busy[home]:
                del self._busy[home]

    def _pass_on(self, load: PageLoad, paused: Paused, request: Request, response: Response, tell: Tell) -> None:
        load.in_flight -= 1
        load.fetched += 1
        load.bytes += response.size
        if response.error or response.truncated:
            load.repeatable = False
            load.refuse(request.url, response.error or reason("unread", "too large"))
            _fail(paused, "Failed", tell)
        else:
            self._keep(request, response, SUBRESOURCE)
            answer = self._as_answer(response, paused.request.method)
            if paused.request.method == "GET":
                answer = answer._replace(source=source_of(request, paused.resource_type, response))
                load.made_of(answer.source)
                kept_as = self._cached_as(load, request.url, bool(request.session))
                self._cache.add(kept_as, paused.request.sender, paused.resource_type, response, answer)
            if self.needs_session(load, paused) and not request.session:
                load.repeatable = False  # a later check would ask for it with the session
            if request.method != "GET" or any(name.lower() == "authorization" for name, _ in request.headers):
                load.repeatable = False  # what a user is known by is not stored
            _fulfil(paused, answer, tell)
        load.changed()

    def _keep(self, request: Request, response: Response, purpose: str) -> None:
        """Archives a response. The same bytes under the same URL are a revisit, which is left out
        unless the user wants those."""
        if response.error:
            return
        digest, before = xxh3_128_digest(response.body), self._archived.get(request.url)
        again = before is not None and before[0] == digest and request.method == "GET"
        if again and not self._settings.revisit_records:
            return
        task = Task(0, request.url, 0, 0, 0, stored=before[1] if before else None)
        fetch = Fetch(task, PoliteHost(origin(request.url), False, self._settings), request)
        fetch.response = response
        mime, _ = media_type(response.value_of(b"content-type"))
        revisit = "same" if again else ""
        stored = self._archive.add(exchange_of(fetch, response.headers(), response.body, mime, revisit, purpose))
        if not again:
            self._archived[request.url] = digest, stored
            if len(self._archived) > MOST_REMEMBERED:
                self._archived.popitem(last=False)

    def _as_answer(self, response: Response, method: str) -> BrowserAnswer:
        cookies = self._settings.cookies
        headers = [
            {"name": name.decode("latin-1"), "value": value.decode("latin-1")}
            for name, value in response.headers()
            if (low := name.lower()) not in _NOT_PASSED and (cookies or low != b"set-cookie")
        ]
        body = b"" if method == "HEAD" else response.body
        return BrowserAnswer(response.status, headers, base64.b64encode(body).decode("ascii"))


def _sender(headers: Iterable[tuple[str, str]]) -> str:
    return next((value for name, value in headers if name.lower() == "origin"), "")


def _may_be_sent(name: str, value: str) -> bool:
    low = name.lower()
    return low not in _OURS and not low.startswith(("sec-", "proxy-")) and value.isprintable() and value.isascii()


def _fulfil(paused: Paused, answer: BrowserAnswer, tell: Tell) -> None:
    tell(
        "Fetch.fulfillRequest",
        {
            "requestId": paused.request_id,
            "responseCode": answer.status,
            "responseHeaders": answer.headers,
            "body": answer.body,
        },
    )


def _fail(paused: Paused, why: str, tell: Tell) -> None:
    tell("Fetch.failRequest", {"requestId": paused.request_id, "errorReason": why})
