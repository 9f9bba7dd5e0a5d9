"""Pages with other addresses, as they are shown without scripts."""

import pytest

from sanderling.documents.html import HtmlPage
from sanderling.documents.rewriting import Targets, rewritten_page


def shown(html: str) -> str:
    page = HtmlPage(html.encode(), None, "http://site/")
    return rewritten_page(page, Targets(lambda url: f"page:{url}", lambda url: f"file:{url}"))


@pytest.mark.parametrize(
    ("written", "put_in_place"),
    [
        ("<img data-src=a.png>", "file:http://site/a.png"),
        ('<img src="data:," data-lazy-src=a.png>', "file:http://site/a.png"),
        ('<img src="data:," data-srcset="a.png 1x, b.png 2x">', "file:http://site/b.png 2x"),
        ("<iframe data-src=/frame></iframe>", "file:http://site/frame"),
    ],
)
def test_lazy_images_are_shown(written: str, put_in_place: str) -> None:
    assert put_in_place in shown(written)


def test_an_image_is_not_shown_twice() -> None:
    html = shown("<img src='small.png' data-src=large.png><img data-src=a.png> <noscript><img src=a.png></noscript>")
    assert 'src="file:http://site/small.png"' in html and html.count('src="file:http://site/a.png"') == 1


def test_what_was_drawn_is_shown_on_its_canvas() -> None:
    html = shown('<canvas style="width:9px" data-sanderling-picture="data:image/webp;base64,AA=="></canvas>')
    assert 'style="width:9px;background:url(data:image/webp;base64,AA==) 0 0/100% 100% no-repeat"' in html
    assert "data-sanderling-picture" not in html
