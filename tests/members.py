"""A site behind a login: a form with a token, sessions that end, and pages for members only."""

import secrets
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from tests.hidden_web import texts
from tests.servers import ThreadedServer

PASSWORD = "low tide 7"
OUT = '<a href="/logout">Log out</a> <a href="/members/3/delete">Delete</a>'


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    sent: dict[str, str]


class Members(ThreadedServer):
    """`/` is public; `/login` and `/members/N` are what they are called. A session ends after
    `lasts` pages."""

    def __init__(self, pages: int = 12, lasts: int = 10**9, extra: Mapping[str, str] | None = None) -> None:
        self.pages = pages
        self.lasts = lasts
        self.extra = dict(extra or {})
        self.moved: dict[str, str] = {}  # paths that redirect, and where to
        self.member_text = ""  # at the end of what members read
        self.asked: list[Request] = []
        self.sessions: dict[str, int] = {}  # pages left
        self._tokens: set[str] = set()
        self._texts = texts(pages)
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._answer({})

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self._answer(dict(parse_qsl(sent)))

            def _answer(self, sent: dict[str, str]) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request(self.command, urlsplit(self.path).path, headers, sent)
                site.asked.append(request)
                status, body, more = site.answer(request)
                self.send_response(status)
                for name, value in (("Content-Type", "text/html"), ("Content-Length", str(len(body.encode()))), *more):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(Handler)
        self.origin = f"http://127.0.0.1:{self.port}"

    def answer(self, request: Request) -> tuple[int, str, list[tuple[str, str]]]:
        cookies = dict(each.strip().partition("=")[::2] for each in request.headers.get("cookie", "").split(";"))
        session = cookies.get("sid", "")
        bearer = request.headers.get("authorization") == f"Bearer {PASSWORD.replace(' ', '-')}"
        inside = bearer or self.sessions.get(session, 0) > 0
        path = request.path
        if path == "/login":
            return self._login(request, session)
        if path == "/logout":
            self.sessions.clear()
            return 200, "bye", []
        if path in self.moved:
            return 302, "", [("Location", self.moved[path])]
        if path in self.extra:
            return 200, self.extra[path], []
        if path == "/":
            links = "".join(f'<a href="/members/{number}">{number}</a> ' for number in range(self.pages))
            return 200, f"<title>Front</title>{links}<a href=/login>Log in</a>{OUT if inside else ''}", []
        if path.startswith("/members/") and path[9:].isdigit():
            if not inside:
                return 302, "", [("Location", f"/login?next={path}"), ("Set-Cookie", "sid=nobody")]
            if session in self.sessions:
                self.sessions[session] -= 1
            number = int(path[9:])
            text = f"{self._texts[number]} {self.member_text}"
            return 200, f"<title>Member {number}</title><p>secret {number} {text}</p>{OUT}", []
        return 404, "not here", []

    def _login(self, request: Request, session: str) -> tuple[int, str, list[tuple[str, str]]]:
        if request.method == "POST":
            token = request.sent.get("csrf", "")
            if token in self._tokens and cookie_of(request, "seen") == token and request.sent.get("pass") == PASSWORD:
                new = secrets.token_hex(8)
                self.sessions[new] = self.lasts
                return 303, "", [("Location", "/"), ("Set-Cookie", f"sid={new}; Path=/; HttpOnly")]
        token = secrets.token_hex(20)
        self._tokens.add(token)
        fields = f"<input type=hidden name=csrf value={token}><input name=user><input type=password name=pass>"
        form = f"<form method=post action=/login>{fields}<button name=go value=1>Log in</button></form>"
        return 200, f"<title>Log in</title>{form}", [("Set-Cookie", f"seen={token}; Path=/")]

    @property
    def logins(self) -> list[dict[str, str]]:
        return [each.sent for each in self.asked if each.method == "POST"]


def cookie_of(request: Request, name: str) -> str:
    pairs = (each.strip().partition("=")[::2] for each in request.headers.get("cookie", "").split(";"))
    return dict(pairs).get(name, "")
