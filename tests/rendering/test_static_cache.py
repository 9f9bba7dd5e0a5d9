"""Files that pages share."""

from sanderling.browser.static_cache import BrowserAnswer, StaticCache
from sanderling.client.fetcher import Response

FILE = "https://cdn.example/font.woff2"


def answered(vary: str) -> Response:
    response = Response()
    response.status = 200
    response.lines = [b"HTTP/1.1 200 OK", b"Vary: " + vary.encode()]
    return response


def test_an_answer_that_varies_by_origin_is_for_that_origin_only() -> None:
    cache = StaticCache()
    ours, theirs = (BrowserAnswer(200, [], name) for name in ("ours", "theirs"))
    cache.add(FILE, "https://a.example", "Font", answered("Accept-Encoding, Origin"), ours)
    assert cache.find(FILE, "https://a.example") == ours
    assert cache.find(FILE, "https://b.example") is None and cache.find(FILE) is None
    cache.add(FILE, "", "Font", answered("Origin"), theirs)
    assert cache.find(FILE) == theirs and cache.find(FILE, "https://a.example") == ours


def test_any_other_answer_is_for_all() -> None:
    cache = StaticCache()
    cache.add(FILE, "https://a.example", "Font", answered("Accept-Encoding"), BrowserAnswer(200, [], "all"))
    assert cache.find(FILE, "https://b.example") == cache.find(FILE) == BrowserAnswer(200, [], "all")
