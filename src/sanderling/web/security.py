"""Who may do what: accepted host names, tokens and passwords, sessions, forms, and links to
archived pages.

On loopback, anyone who uses the server's own name may enter. A website whose name points at
127.0.0.1 uses another name and is refused. On other addresses, a token or a password is needed. A
form contains a token of its session. A program that uses a cookie must send a header that pages of
other origins cannot send.
"""

import hashlib
import hmac
import ipaddress
import secrets
import threading
import time
from collections import OrderedDict
from urllib.parse import urlencode

import argon2
from fastapi import HTTPException, Request

SESSION_SECONDS = 12 * 3600.0
ARCHIVE_SECONDS = 3600.0
# Wrong passwords a minute from one address, and from all together, because each costs 50 ms and 64
# MiB.
TRIES, ALL_TRIES = 5, 60
MOST_SESSIONS = 1000

# Where sites and hubs send messages. They are programs without a session; each message is checked
# by itself.
RECEIVING = ("/indexnow", "/websub/")

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Security:
    """The secrets of one server. A restart makes new ones."""

    def __init__(
        self, *, port: int, archive_port: int = 0, token: str = "", password: str = "",
        names: frozenset[str] = LOOPBACK_NAMES, any_name: bool = False, allow_private: bool = False,
    ) -> None:  # fmt: skip
        """`any_name` accepts every host name. It is for servers on other addresses, which need a
        token or a password."""
        self.cookie = (
            f"sanderling-{port}"  # cookies ignore the port, so two servers on one machine need different names
        )
        self.port = port
        self.archive_port = archive_port
        self.allow_private = allow_private
        self.locked = bool(token or password)
        self._names = names
        self._any_name = any_name and self.locked
        self._key = secrets.token_bytes(32)
        self._token = self._digest(token) if token else None
        self._hasher = argon2.PasswordHasher()
        self._password = password if password.startswith("$argon2") else self._hasher.hash(password) if password else ""
        self._one_by_one = threading.Lock()
        self._tries: OrderedDict[str, list[float]] = OrderedDict()
        self._sessions: OrderedDict[str, float] = OrderedDict()

    # ---- who asks

    def answers_to(self, host: str) -> bool:
        """Whether a Host header names this server."""
        return self._any_name or host_name(host) in self._names

    def knows_token(self, authorization: str) -> bool:
        """Whether an Authorization header contains the token."""
        scheme, _, given = authorization.partition(" ")
        if self._token is None or scheme.lower() != "bearer":
            return False
        return hmac.compare_digest(self._digest(given.strip()), self._token)

    def sign_in(self, given: str, address: str, device: str = "") -> str | None:
        """A session for anyone who knows the token or the password, else None. After many wrong
        tries, raises 429. The tries of others do not count for the token, which nobody guesses, nor
        for a device where somebody has signed in before: strangers lock the owner out of neither.
        """
        with self._one_by_one:
            is_token = self._token is not None and hmac.compare_digest(self._digest(given), self._token)
            if not is_token:
                limits = {device: TRIES} if self.is_device(device) else {address: TRIES, "": ALL_TRIES}
                self._slow_down(limits)
                if not self._verify(given):
                    for name in limits:
                        self._tries.setdefault(name, []).append(time.monotonic())
                    return None
            session = self.new_session()
            self._sessions[session] = time.monotonic() + SESSION_SECONDS
            while len(self._sessions) > MOST_SESSIONS:
                self._sessions.popitem(last=False)
            return session

    def new_device(self) -> str:
        """What a browser keeps after signing in, until the server is restarted."""
        nonce = secrets.token_urlsafe(24)
        return f"{nonce}.{self._sign('device', nonce)}"

    def is_device(self, device: str) -> bool:
        nonce, _, signature = device.partition(".")
        return hmac.compare_digest(signature.encode(), self._sign("device", nonce).encode())

    def sign_out(self, session: str) -> None:
        self._sessions.pop(session, None)

    def may_enter(self, session: str) -> bool:
        return not self.locked or self._sessions.get(session, 0.0) > time.monotonic()

    # ---- sessions and forms

    def new_session(self) -> str:
        nonce = secrets.token_urlsafe(24)
        return f"{nonce}.{self._sign('session', nonce)}"

    def is_session(self, session: str) -> bool:
        """Whether this server made the session, so that nobody can plant another one."""
        nonce, _, signature = session.partition(".")
        return hmac.compare_digest(signature.encode(), self._sign("session", nonce).encode())

    def form_token(self, session: str) -> str:
        return self._sign("form", session)

    # ---- archived pages, on another origin that gets no cookies

    def archive_link(self, origin: str, crawl: str, version: int, until: int = 0) -> str:
        """A URL at which anyone can see a version until a time, by default for an hour."""
        until = until or int(time.time() + ARCHIVE_SECONDS)
        return f"{origin}/{crawl}/{version}?until={until}&key={self._sign('archive', f'{crawl}/{version}/{until}')}"

    def may_see(self, crawl: str, version: int, until: int, key: str) -> bool:
        wanted = self._sign("archive", f"{crawl}/{version}/{until}")
        return until > time.time() and hmac.compare_digest(key.encode(), wanted.encode())

    def follow_link(self, crawl: str, version: int, url: str, until: int) -> str:
        """A path that leads from an archived version to the copy of another page of about the same
        time."""
        key = self._sign("follow", f"{crawl}/{version}/{until}/{url}")
        return f"/{crawl}/{version}/to?{urlencode({'url': url, 'until': until, 'key': key})}"

    def may_follow(self, crawl: str, version: int, url: str, until: int, key: str) -> bool:
        wanted = self._sign("follow", f"{crawl}/{version}/{until}/{url}")
        return until > time.time() and hmac.compare_digest(key.encode(), wanted.encode())

    def file_link(self, crawl: str, version: int, url: str, until: int) -> str:
        """A path to the copy of a file that an archived version shows."""
        key = self._sign("file", f"{crawl}/{version}/{until}/{url}")
        return f"/{crawl}/{version}/file?{urlencode({'url': url, 'until': until, 'key': key})}"

    def may_show(self, crawl: str, version: int, url: str, until: int, key: str) -> bool:
        wanted = self._sign("file", f"{crawl}/{version}/{until}/{url}")
        return until > time.time() and hmac.compare_digest(key.encode(), wanted.encode())

    # ----

    def _slow_down(self, limits: dict[str, int]) -> None:
        since = time.monotonic() - 60
        for name, most in limits.items():
            recent = [at for at in self._tries.get(name, ()) if at > since]
            if len(recent) >= most:
                wait = max(1, int(recent[0] - since) + 1)
                raise HTTPException(429, f"too many wrong tries; wait {wait} s", {"Retry-After": str(wait)})
            if recent:
                self._tries[name] = recent
            else:
                self._tries.pop(name, None)
        while len(self._tries) > MOST_SESSIONS:
            self._tries.popitem(last=False)

    def _verify(self, given: str) -> bool:
        try:
            return bool(self._password) and self._hasher.verify(self._password, given)
        except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
            return False

    def _digest(self, text: str) -> bytes:
        return hmac.digest(self._key, text.encode("utf-8", "surrogateescape"), hashlib.sha256)

    def _sign(self, purpose: str, text: str) -> str:
        return hmac.new(self._key, f"{purpose}:{text}".encode(), hashlib.sha256).hexdigest()[:40]


def host_name(host: str) -> str:
    """The name in a Host header, without its port."""
    host = host.strip().lower()
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0].rstrip(".")


def is_loopback(address: str) -> bool:
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


def form_token(request: Request) -> str:
    """The token for the hidden field `form_token` of a form. It starts a session if there is
    none."""
    security: Security = request.app.state.security
    session: str = request.state.session
    if not session:
        session = request.state.session = request.state.give_cookie = security.new_session()
    return security.form_token(session)


async def guard(request: Request) -> None:
    """Refuses requests that change something, unless they have a token, our header or the token of
    our form."""
    if request.method in ("GET", "HEAD", "OPTIONS") or request.state.by_token or "x-sanderling" in request.headers:
        return
    if request.url.path.startswith(RECEIVING):
        return
    security: Security = request.app.state.security
    given = ""
    if request.headers.get("content-type", "").startswith(("application/x-www-form-urlencoded", "multipart/form-data")):
        given = str((await request.form()).get("form_token", ""))
    session: str = request.state.session
    if not session or not hmac.compare_digest(given.encode(), security.form_token(session).encode()):
        raise HTTPException(
            403, "send the header `X-Sanderling: 1` or a token; for a form, load the page again and send it once more"
        )


def archive_origin(request: Request) -> str:
    """The origin that shows archived pages. It has another port, which makes it another origin."""
    security: Security = request.app.state.security
    return f"{request.url.scheme}://{host_name(request.headers.get('host', ''))}:{security.archive_port}"


def is_hash(text: str) -> bool:
    """Whether a text is a valid password hash."""
    try:
        argon2.extract_parameters(text)
    except argon2.exceptions.InvalidHashError:
        return False
    return True
