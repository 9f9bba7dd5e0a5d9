"""Which files are pages, and at which URLs."""

import pytest

from sanderling_announce.errors import WrongUse
from sanderling_announce.pages import PageMap, depth, rule_of, site_of

SITE = "https://example.org/"


@pytest.mark.parametrize(
    ("path", "url"),
    [
        (b"index.html", SITE),
        (b"about.html", f"{SITE}about.html"),
        (b"blog/index.html", f"{SITE}blog/"),
        (b"blog/A b\xc3\xa4.HTML", f"{SITE}blog/A%20b%C3%A4.HTML"),
        (b"a?b#c%.html", f"{SITE}a%3Fb%23c%25.html"),
        (b"paper.pdf", f"{SITE}paper.pdf"),
        (b"\xff.html", f"{SITE}%FF.html"),
        (b"style.css", None),
        (b".hidden.html", None),
        (b"a/.git/x.html", None),
        (b"page.html~", None),
        (b".page.html.swp", None),
        (b"#page.html#", None),
        (b"page.html.part", None),
    ],
)
def test_paths_become_urls(path: bytes, url: str | None) -> None:
    assert PageMap(SITE).url(path) == url


def test_maps_leave_extensions_out_move_and_exclude() -> None:
    rules = [rule_of(text, SITE) for text in ("drafts/**=-", "api/*.json=v1/*?format=json", "**.html=/**")]
    pages = PageMap(SITE, rules=rules)
    assert pages.url(b"drafts/a.html") is None
    assert pages.url(b"index.html") == SITE
    assert pages.url(b"blog/index.html") == f"{SITE}blog/"
    assert pages.url(b"blog/a.html") == f"{SITE}blog/a"
    assert pages.url(b"api/x.json") == f"{SITE}v1/x?format=json"
    assert pages.url(b"paper.pdf") == f"{SITE}paper.pdf"
    assert PageMap(SITE, types=None).url(b"style.css") == f"{SITE}style.css"


@pytest.mark.parametrize("text", ["nothing", "=x", "a=", "*.html=**/*", "**=https://elsewhere.example/**"])
def test_a_map_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(WrongUse):
        rule_of(text, SITE)


def test_a_site_is_a_url() -> None:
    assert site_of("https://Example.org") == SITE
    assert site_of("https://example.org/docs") == f"{SITE}docs/"
    for text in ("", "example.org", "ftp://example.org/", "https://example.org/?a=1", "/srv/www"):
        with pytest.raises(WrongUse):
            site_of(text)


def test_depths() -> None:
    assert [depth(SITE + path, SITE) for path in ("", "a", "a/", "a/b/c.html", "a?b/c")] == [0, 1, 1, 3, 1]
