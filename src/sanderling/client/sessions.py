"""The user's own sessions, each at one origin: how one is begun, noticed to be over, and renewed.

A session is headers or cookies that the user has, or a recipe by which the login form is filled in.
It is never found by itself, and nothing of it is sent to another origin (`session_fetcher`).
"""

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from sanderling.client.cookies import CookieJar
from sanderling.client.fetcher import Request, Response
from sanderling.documents.html import HtmlPage
from sanderling.documents.html_forms import filled_in
from sanderling.documents.unreadable import UNREADABLE
from sanderling.errors import BadSetting
from sanderling.model.reasons import reason, sentence
from sanderling.settings import Login, Settings
from sanderling.urls import document_of, join, origin

REDIRECTS = (301, 302, 303, 307, 308)
MOST_HOPS = 5
# A login that the network or the server hinders so often is given up. One that is refused is not
# tried again at all.
MOST_HINDERED = 3
# After a login there may be this many more, and one more for this many pages that were read. So a
# page that is never shown cannot make us log in for ever.
FIRST_RENEWALS, PAGES_PER_RENEWAL = 2, 20
# This many pages in a row without a login end a session.
MOST_STRANGE = 3

_PASSWORD = re.compile(rb"<input\b[^>]*\btype\s*=\s*[\"']?password\b", re.IGNORECASE)
_LOGIN_LINK = re.compile(rb"\bhref\s*=\s*[\"']?[^\"'>\s]*(?:log|sign)[-_]?(?:in|on)\b", re.IGNORECASE)
_LEADS_TO_LOGIN = re.compile(r"(?:log|sign)[-_]?(?:in|on)\b|/(?:sso|saml|oauth2?|cas|auth)\b", re.IGNORECASE)


class _Step(NamedTuple):
    """The next request of a login."""

    url: str
    body: bytes = b""
    hops: int = 0
    sent: bool = False  # the form was sent before


class UserSession:
    """One session. `generation` counts how often it was begun."""

    def __init__(self, login: Login, limit: int = 1 << 20) -> None:
        self.place = login.place
        self._login = login
        self._limit = limit
        self._jar = CookieJar(self.place)
        self._jar.read(login.cookies)
        self._page = document_of(login.page)
        self._next = self._first_step()
        self.generation = 1
        self.over = ""  # why there will be no more pages, as a reason
        self.hindered = ""  # why the last step did not come to an end
        self._times_hindered = 0
        self._renewals = self._good = self._strange = 0
        self._retried: set[str] = set()

    # ---- what is sent

    def headers(self, url: str) -> tuple[tuple[str, str], ...]:
        cookies = self._jar.header(url)
        return (*self._login.headers.items(), *([("Cookie", cookies)] if cookies else []))

    @property
    def secret_names(self) -> set[str]:
        """Headers that are not archived, in lower case."""
        return {"cookie", "authorization", *(name.lower() for name in self._login.headers)}

    def take_cookies(self, response: Response, url: str, generation: int) -> None:
        if generation == self.generation:  # an older session ends with cookies of its own
            for name, value in response.headers():
                if name.lower() == b"set-cookie":
                    self._jar.take(value.decode("latin-1"), url)

    # ---- logging in

    @property
    def due(self) -> bool:
        """Whether a step of a login comes before the next page."""
        return self._next is not None and not self.over

    def request(self, trusted: bool, private: tuple[str, ...]) -> Request:
        assert self._next is not None
        url, body, _, _ = self._next
        headers: tuple[tuple[str, str], ...] = ()
        if body:
            kind = ("Content-Type", "application/x-www-form-urlencoded")
            headers = (kind, ("Referer", self._page), ("Origin", self.place))
        method = "POST" if body else "GET"
        return Request(
            url, trusted, self._limit, headers, method=method, body=body, private=private, session="part"
        )  # fmt: skip

    def advance(self, response: Response) -> None:
        """Takes the answer to a step."""
        step, status, self.hindered = self._next, response.status, ""
        assert step is not None
        if response.error or status in (408, 429) or status >= 500:
            self._hinder(response.error or reason("status", status))
        elif status in REDIRECTS:
            target = join(step.url, response.location())
            if target is None or origin(target) != self.place:
                self._refuse("it leads to another site")
            elif step.hops >= MOST_HOPS:
                self._refuse(f"more than {MOST_HOPS} redirects")
            else:
                self._next = _Step(target, b"", step.hops + 1, step.sent)
        elif self._shows(response.body):
            self._next, self._times_hindered = None, 0
        elif step.sent:
            self._next = None
            self.over = reason("login-refused", f"the answer does not show {self._login.shows!r}")
        else:
            self._next = self._filled_in(step, response)

    def _filled_in(self, step: _Step, response: Response) -> _Step | None:
        try:
            page = HtmlPage(response.body, None, step.url)
            found = filled_in(page.document, step.url, self._login.fields)
        except UNREADABLE:
            found = None
        if found is None:
            self._refuse(f"the page has no form with the fields {', '.join(self._login.fields)}")
        elif found[0].method != "post":
            self._refuse("its form would put the password into a URL")
        elif origin(found[0].action) != self.place:
            self._refuse("its form leads to another site")
        else:
            return _Step(found[0].action, urlencode(found[1]).encode(), 0, True)
        return None

    def _first_step(self) -> _Step | None:
        return _Step(self._login.page) if self._login.page else None

    def _refuse(self, why: str) -> None:
        self._next = None
        self.over = reason("login-failed", why)

    def _hinder(self, why: str) -> None:
        self.hindered, self._next = why, self._first_step()
        self._times_hindered += 1
        if self._times_hindered >= MOST_HINDERED:
            self._refuse(sentence(why))

    # ---- whether it still holds

    def _is_login_page(self, url: str) -> bool:
        return bool(self._page) and url.partition("?")[0] == self._page.partition("?")[0]

    def judge(self, url: str, response: Response, html: bytes) -> None:
        """Marks a response for somebody who is not logged in: it is asked for again after a login,
        or it failed."""
        if response.error:
            return
        if not self._is_signed_out(response, html):
            self._good += 1
            self._strange = 0
        elif response.session != self.generation:
            response.signed_out = True  # the session was renewed meanwhile
        elif self._is_login_page(url):
            response.error, response.hopeless = reason("login-page"), True
        elif self._may_renew(url):
            self._renewals += 1
            self._retried.add(url)
            self.generation += 1
            self._next = self._first_step()
            response.signed_out = True
        else:
            self._strange += 1
            response.error, response.hopeless = reason("signed-out"), True
            if self._strange >= MOST_STRANGE and not self.over:
                self.over = reason("session-over")

    def _may_renew(self, url: str) -> bool:
        allowed = FIRST_RENEWALS + self._good // PAGES_PER_RENEWAL
        return bool(self._login.page) and not self.over and url not in self._retried and self._renewals < allowed

    def _is_signed_out(self, response: Response, html: bytes) -> bool:
        status = response.status
        if status == 401:
            return True
        if status in REDIRECTS:
            target = join(self.place, response.location()) or ""
            return self._is_login_page(target) or bool(_LEADS_TO_LOGIN.search(target.partition("?")[0]))
        kind = response.value_of(b"content-type").lower()
        if not (200 <= status < 300 or status == 403) or (kind and "html" not in kind) or self._shows(html):
            return False
        passwords = len(_PASSWORD.findall(html))
        if self._login.shows:
            path = self._page[len(self.place) :].encode()
            return passwords > 0 or (len(path) > 1 and path in html) or _LOGIN_LINK.search(html) is not None
        return passwords == 1  # with more it is a page to change the password

    def _shows(self, html: bytes) -> bool:
        shows = self._login.shows
        return bool(shows) and (shows.encode() in html or shows.encode("latin-1", "replace") in html)


Sessions = Mapping[str, UserSession]  # by origin


def sessions_of(settings: Settings, refused: Mapping[str, str]) -> dict[str, UserSession]:
    """The sessions of settings whose values are revealed. `refused` are reasons by origin."""
    sessions = {login.place: UserSession(login) for login in settings.login}
    for place, why in refused.items():
        sessions[place].over = why
    return sessions


def check(settings: Settings) -> None:
    """Complains about logins that cannot work. `settings` are revealed."""
    for login in settings.login:
        for name, value in login.headers.items():
            if not (value.isprintable() and value.isascii()):
                raise BadSetting(f"login of {login.place}: the value of {name} must be one line of ASCII")
        jar = CookieJar(login.place)
        jar.read(login.cookies)
        if login.cookies and not len(jar):
            raise BadSetting(f"login of {login.place}: its cookies have none for this origin, or all have expired")
        if settings.proxy and login.place.startswith("http:"):
            raise BadSetting(f"login of {login.place}: the proxy could read the session; use https:// or no proxy")
