"""Pages that an application shows although its server answers 404.

Hosts of files know nothing of the routes of an application. Many of them send its document with
status 404 for every path that is no file, and the script shows the page. Such a document is
rendered. What it shows at an address that does not exist, beside the first one of each pattern, is
how the application says that there is nothing: a page that says the same is not found.
"""

from collections import Counter, deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from xxhash import xxh3_64_intdigest

from sanderling.browser.candidates import may_need_a_browser
from sanderling.client.fetcher import Rendered, Request, Response
from sanderling.documents.formats import kind_of
from sanderling.documents.html import HtmlPage
from sanderling.documents.reading import media_type
from sanderling.documents.unreadable import UNREADABLE
from sanderling.freshness.url_groups import url_pattern
from sanderling.urls import WEB

if TYPE_CHECKING:
    from sanderling.browser.pool import RenderPool

MISSING = 404
# The last part of an address that no site has.
NOWHERE = "qxzvkjwpfhgt"
# After this many pages that said nothing of their own, and none that did, a pattern is left.
MOST_IN_VAIN = 3


class MissingPages:
    """What the documents of missing pages show."""

    def __init__(self) -> None:
        self._nothing: dict[str, str | None] = {}  # what an address without a page shows; None while it is rendered
        self._waiting: dict[str, deque[Callable[[], None]]] = {}
        self._in_vain: Counter[str] = Counter()

    def may_show_more(self, request: Request, response: Response) -> bool:
        if "#" in request.url or not is_html(request, response) or not may_need_a_browser(response.body):
            return False
        return self._in_vain[_key(request, response)] < MOST_IN_VAIN

    def render(self, pool: "RenderPool", request: Request, response: Response, over: Callable[[], None]) -> None:
        """Renders a page, and before the first one of its pattern an address that does not
        exist."""
        key = _key(request, response)

        def shown(rendered: Rendered | None, why: str) -> None:
            if rendered is None:
                response.not_rendered = why
            elif (said := _said(rendered, request.url)) and said != self._nothing[key]:
                response.rendered = rendered
                self._in_vain[key] = -1_000_000  # an application: each of its pages may be one
            else:
                self._in_vain[key] += 1
            over()

        def go_on() -> None:
            pool.render(request, response, shown)

        if self._nothing.get(key) is not None:
            go_on()
            return
        self._waiting.setdefault(key, deque()).append(go_on)
        if key in self._nothing:
            return
        self._nothing[key] = None
        nowhere = request._replace(url=request.url.rstrip("/").rpartition("/")[0] + f"/{NOWHERE}")

        def learned(rendered: Rendered | None, why: str) -> None:
            self._nothing[key] = _said(rendered, nowhere.url) if rendered is not None else ""
            for each in self._waiting.pop(key):
                each()

        pool.render(nowhere, response, learned)


def is_html(request: Request, response: Response) -> bool:
    if response.error or response.truncated:
        return False
    mime, charset = media_type(response.value_of(b"content-type"))
    return request.url.startswith(WEB) and kind_of(response.body, mime, charset) == "html"


def _key(request: Request, response: Response) -> str:
    return f"{url_pattern(request.url)} {xxh3_64_intdigest(response.body)}"


def _said(rendered: Rendered, url: str) -> str:
    """The text of a page without its address."""
    try:
        text = HtmlPage(rendered.html, "utf-8", url).text(spent=True)
    except UNREADABLE:
        return ""
    return " ".join(text.replace(url.rpartition("/")[2], "").split())
