"""A task in flight: it connects the host with the request and the response."""

from typing import TYPE_CHECKING

from sanderling.client.fetcher import MayConnect, Request, Response
from sanderling.client.polite_host import PoliteHost
from sanderling.client.robots import LARGEST
from sanderling.model import Kind, Task
from sanderling.settings import Settings
from sanderling.urls import origin, posted

if TYPE_CHECKING:  # loaded only by crawls that log in
    from sanderling.client.sessions import UserSession

PAGE, LOGIN = -1, -2
_FORM = (("Content-Type", "application/x-www-form-urlencoded"),)
# How the validator of a rendered page begins: it says what the page was made from.
MADE_FROM = "made-from:"


class Fetch:
    """One task of a host, its request and, once that is sent, the response."""

    __slots__ = ("_was_busy", "host", "request", "response", "robots_hops", "task")

    response: Response

    def __init__(self, task: Task, host: PoliteHost, request: Request, robots_hops: int = PAGE) -> None:
        self.task = task
        self.host = host
        self.request = request
        self.robots_hops = robots_hops  # `PAGE`, `LOGIN`, or for robots.txt how many redirects led here
        self._was_busy = False

    @property
    def is_page(self) -> bool:
        return self.robots_hops == PAGE

    @property
    def postponed(self) -> bool:
        """Whether it has to be sent again: another host at its address was being asked, memory was
        short, or a session is over."""
        response = self.response
        return response.crowded_out or response.signed_out or (self._was_busy and bool(response.error))

    def permission(self) -> MayConnect | None:
        """What to ask before connecting, if hosts at one address share a pause."""
        shared = self.host.pauses is not None and origin(self.request.url) == self.host.origin
        return self._may_connect if shared else None

    def _may_connect(self, address: str) -> bool:
        free = self.host.meet(address)
        self._was_busy = self._was_busy or not free
        return free


class Requests:
    """Makes the requests of one client."""

    def __init__(self, settings: Settings) -> None:
        self._limit = settings.max_body
        self._media = settings.max_media
        self._skip = skipped_types(settings)

    def page(self, task: Task, host: PoliteHost) -> Request:
        trusted = _trusted(task.url, host)
        private = host.private if trusted else ()
        if task.body:
            return self._post(task, trusted, private, _FORM, task.body.encode())
        if (sent := posted(task.url)) is not None:
            return self._post(task, trusted, private, (("Content-Type", sent.mime),), sent.body)
        return Request(
            task.url,
            trusted,
            self._media if task.kind == Kind.REQUISITE else self._limit,
            _conditions(task),
            self._skip,
            private=private,
            renderable=task.kind == Kind.PAGE,
            made_from=task.etag if task.etag.startswith(MADE_FROM) else "",
            digest=task.digest,
            events=task.events,
            session="page",
        )

    def _post(
        self, task: Task, trusted: bool, private: tuple[str, ...], headers: tuple[tuple[str, str], ...], body: bytes
    ) -> Request:
        return Request(
            task.url, trusted, self._limit, headers, private=private, method="POST", body=body, session="page"
        )  # fmt: skip

    def login(self, session: "UserSession", host: PoliteHost) -> Request:
        return session.request(host.trusted, host.private)

    def robots(self, url: str, host: PoliteHost) -> Request:
        trusted = _trusted(url, host)
        private = host.private if trusted else ()
        return Request(url, trusted, LARGEST, private=private, certificate=url.startswith("https://"))


def _trusted(url: str, host: PoliteHost) -> bool:
    """Another origin, reached by a redirect of robots.txt, is not trusted although the user named
    the first."""
    return host.trusted and origin(url) == host.origin


def skipped_types(settings: Settings) -> tuple[str, ...]:
    """The beginnings of the media types that the user does not want."""
    return tuple(each.lower() for each in settings.skip_types)


def _conditions(task: Task) -> tuple[tuple[str, str], ...]:
    """The headers that make a request conditional. Values with control characters are left out."""
    if (not task.etag and not task.modified) or task.etag.startswith(MADE_FROM):
        return ()
    said = (("If-None-Match", task.etag), ("If-Modified-Since", task.modified))
    return tuple((name, value) for name, value in said if value and value.isprintable() and value.isascii())
