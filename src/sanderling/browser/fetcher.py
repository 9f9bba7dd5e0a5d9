"""A fetcher that renders: a page is fetched as always, and then a browser makes of it what its readers see."""

from pathlib import Path

from sanderling.browser.candidates import may_need_a_browser
from sanderling.browser.door import Door
from sanderling.browser.pool import RenderPool
from sanderling.client.archive import Archive
from sanderling.client.fetcher import Fetcher, MayConnect, Rendered, Request, Response
from sanderling.client.loop import Loop
from sanderling.documents.formats import kind_of
from sanderling.documents.reading import media_type
from sanderling.settings import Settings
from sanderling.urls import WEB
from sanderling.urls.patterns import pattern


class RenderingFetcher:
    """A `Fetcher` around another one. A response is finished when its page is rendered, if it is to be."""

    def __init__(self, program: Path, settings: Settings, loop: Loop, fetcher: Fetcher, archive: Archive) -> None:
        self._settings = settings
        self._fetcher = fetcher
        self._include = [pattern(text) for text in settings.render_include]
        self._door = Door(settings, fetcher, archive)
        self.pool = RenderPool(program, settings, loop, self._door)
        self._requests: dict[Response, Request] = {}
        self._over: list[Response] = []

    def start(self, request: Request, may_connect: MayConnect | None = None) -> Response:
        response = self._fetcher.start(request, may_connect)
        self._requests[response] = request
        return response

    def finished(self) -> list[Response]:
        for response in self._door.take(self._fetcher.finished()):
            request = self._requests.pop(response)
            if self._is_wanted(request, response):
                self._render(request, response)
            else:
                self._over.append(response)
        over, self._over = self._over, []
        return over

    def close(self) -> None:
        self.pool.close()
        self._fetcher.close()

    def _is_wanted(self, request: Request, response: Response) -> bool:
        if not is_page(request, response):
            return False
        if self._include and not any(each.search(request.url) for each in self._include):
            return False
        return self._settings.render == "always" or may_need_a_browser(response.body)

    def _render(self, request: Request, response: Response) -> None:
        def done(rendered: Rendered | None, why: str) -> None:
            response.rendered, response.not_rendered = rendered, why
            self._over.append(response)

        self.pool.render(request, response, done)


def is_page(request: Request, response: Response) -> bool:
    """Whether a response is HTML that a browser could render."""
    if (
        not request.renderable
        or response.error
        or not 200 <= response.status < 300
        or not request.url.startswith(WEB)
        or response.truncated
    ):
        return False
    mime, charset = media_type(response.value_of(b"content-type"))
    return kind_of(response.body, mime, charset) == "html"
