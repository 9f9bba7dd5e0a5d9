"""A fetcher that adds the user's sessions to requests, and takes all traces of them out of what is
archived."""

from sanderling.client.fetcher import Fetcher, MayConnect, Request, Response
from sanderling.client.sessions import Sessions, UserSession
from sanderling.urls import origin

_LEFT_OUT = b"X-Archive-Left-Out"


class SessionFetcher:
    """A `Fetcher` around another one. Only requests that ask for it get a session, and only that of
    their origin."""

    def __init__(self, fetcher: Fetcher, sessions: Sessions) -> None:
        self._fetcher = fetcher
        self._sessions = sessions
        self._asked: dict[Response, tuple[UserSession, Request]] = {}

    def start(self, request: Request, may_connect: MayConnect | None = None) -> Response:
        session = self._sessions.get(origin(request.url)) if request.session else None
        if session is None:
            return self._fetcher.start(request, may_connect)
        own = {name.lower() for name, _ in request.headers}
        added = tuple(each for each in session.headers(request.url) if each[0].lower() not in own)
        response = self._fetcher.start(request._replace(headers=(*request.headers, *added), cookies=False), may_connect)
        response.session = session.generation
        self._asked[response] = session, request
        return response

    def expect(self, origin: str) -> None:
        self._fetcher.expect(origin)

    def finished(self) -> list[Response]:
        over = self._fetcher.finished()
        for response in over:
            if (asked := self._asked.pop(response, None)) is not None:
                session, request = asked
                session.take_cookies(response, request.url, response.session)
                redact(response, session.secret_names)
                if request.session == "page":
                    session.judge(request.url, response, response.body)
        return over

    def close(self) -> None:
        self._fetcher.close()


def redact(response: Response, secret: set[str]) -> None:
    """Takes what a user is known by out of the heads of a request and its response."""
    head, blank, body = response.sent.partition(b"\r\n\r\n")
    response.sent = b"\r\n".join(_without_value(line, secret) for line in head.split(b"\r\n")) + blank + body
    response.lines = [_without_value(line, {"set-cookie", *secret}) for line in response.lines]


def _without_value(line: bytes, secret: set[str]) -> bytes:
    name, colon, _ = line.partition(b":")
    if not colon or name.strip().lower().decode("latin-1") not in secret:
        return line
    return b"%b: %b" % (_LEFT_OUT, name.strip())
