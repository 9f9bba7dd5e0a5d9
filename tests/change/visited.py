"""A page that is visited again and again, judged as a crawl judges it."""

from collections.abc import Iterable, Sequence

from turbohtml import Document, parse

from sanderling.change import Noise
from sanderling.change.judging import fingerprinter, judge, watcher
from sanderling.documents.visible import visible_text
from sanderling.model import Before, Change, Outcome, State, Visit
from sanderling.settings import Rule
from sanderling.urls import join

URL = "https://example.org/page"


def _links(document: Document, url: str) -> bytes:
    """As a crawl sees them: without session ids."""
    found = [join(url, link.attr("href") or "") for link in document.iter_elements(("a", "area"))]
    return "\n".join(["", *(link or "" for link in found)]).encode()


class VisitedPage:
    """A page and what is known of it after each visit."""

    def __init__(self, rules: Sequence[Rule] = (), url: str = URL) -> None:
        self._take, self._watched, self._url = fingerprinter(rules), watcher(rules)(url), url
        self._before: Before | None = None
        self._body = ""
        self.site = Noise()

    def visit(self, body: str) -> Change | None:
        """What a visit finds that gets this page."""
        document = parse(body)
        made = self._take(document, self._url)(visible_text(document), _links(document, self._url))
        last, body_before, self._body = self._before, self._body, body
        if last is None:
            self._before = Before(b"", b"", State.FETCHED, 200, None, True)
            self._first = made
            return None
        same = body == body_before
        visit = Visit(
            id=1, outcome=Outcome.UNCHANGED if same else Outcome.PAGE, status=200, at=1.0, size=len(body),
            digest=b"", fingerprint=b"" if same else made, mime="text/html",
        )  # fmt: skip
        judged = judge(visit, last, lambda before: self._first, self.site, self._watched)
        self.site = judged.template
        self._before = last._replace(fingerprint=last.fingerprint if same else made, noise=judged.noise)
        return judged.change

    def news(self, bodies: Iterable[str]) -> list[bool]:
        """Which of these visits are news."""
        changes = [self.visit(body) for body in bodies]
        return [change is not None and change.news and bool(change.kinds) for change in changes]
