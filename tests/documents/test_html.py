import pytest

from sanderling.documents.html import HtmlPage, directives

PAGE = b"""<!doctype html><html lang="de"><head><title> A
 title </title><base href="/base/"><link rel="Next" href="n"><link rel=canonical href="c">
<link rel=stylesheet href="s.css"><link rel="alternate stylesheet" href="t.css"><meta name=Robots content="NoIndex, follow">
<meta http-equiv=Refresh content="5; url=/moved"></head>
<body><p>Some <b>text</b></p><script>no()</script><a href=a>An <i>anchor</i></a><a rel="x NoFollow" href=b>b</a><a>none</a>
<map><area href=d></map><iframe src=e></iframe><img src=i.png><img src=i.png></body></html>"""


def page() -> HtmlPage:
    return HtmlPage(PAGE, None, "http://e.org/x/y")


def test_facts() -> None:
    assert page().title() == "A title"
    assert page().language() == "de"
    assert "Some text" in page().text()
    assert "no()" not in page().text()
    assert page().images() == ["i.png", "i.png"]


def test_a_wide_cell_makes_no_flood_of_spaces() -> None:
    """With cells padded to the longest one, a page of 96 KB would become 160 MB of text."""
    table = b"<table>" + b"<tr><td>a<td>b" * 4000 + b"<tr><td>" + b"x" * 40_000 + b"<td>y</table>"
    assert len(HtmlPage(table, None, "http://e.org/").text()) < len(table)


def test_head() -> None:
    head = page().head(frozenset())
    assert head.base == "http://e.org/base/"
    assert head.hrefs == ["n", "c", "d", "e"]
    assert (head.nofollow, head.noindex) == (False, True)
    assert head.refresh == "http://e.org/moved" or head.refresh == "/moved"


def test_alternates_in_machine_formats_are_no_links() -> None:
    """They repeat a page that is known: wp-json, oEmbed, exports."""
    types = ("", "text/html", "Application/RSS+XML; charset=utf-8", "application/atom+xml", "application/json",
             "application/json+oembed", "text/xml+oembed", "text/plain", "text/csv", "text/calendar")  # fmt: skip
    body = "".join(f'<link rel=alternate type="{type}" href="{number}">' for number, type in enumerate(types))
    body += "<link rel=alternate hreflang=fr href=fr><link rel='canonical alternate' type=application/json href=c>"
    head = HtmlPage(body.encode(), None, "http://e.org/").head(frozenset())
    assert head.hrefs == ["0", "1", "2", "3", "fr", "c"]


def test_where_a_refresh_leads_depends_on_the_base() -> None:
    body = b'<meta http-equiv=refresh content="0; url=there"><base href="/base/">'
    assert HtmlPage(body, None, "http://e.org/x/y").head(frozenset()).refresh == "http://e.org/base/there"


def test_areas_may_say_nofollow_too() -> None:
    image_map = HtmlPage(b'<map><area href=a><area href=b rel="NoFollow"></map>', None, "http://e.org/")
    assert image_map.head(frozenset()).hrefs == ["a"]
    assert image_map.head(frozenset(), follow_nofollow=True).hrefs == ["a", "b"]


def test_the_title_of_a_drawing_is_not_that_of_the_page() -> None:
    drawing = b"<svg><title>a magnifying glass</title></svg>"
    assert HtmlPage(drawing + b"<title>Shores</title>", None, "http://e.org/").title() == "Shores"
    assert HtmlPage(drawing, None, "http://e.org/").title() == ""


def test_anchors() -> None:
    assert page().hrefs(follow_nofollow=False) == ["a"]
    assert page().hrefs(follow_nofollow=True) == ["a", "b"]
    assert page().anchor_texts(["a", "missing"]) == ["An anchor", ""]
    assert page().anchor_texts(["a", *(["missing"] * 100)]) == ["An anchor", *([""] * 100)]


@pytest.mark.parametrize(
    ("body", "charset", "text", "used"),
    [
        (b"\xef\xbb\xbf<p>\xc3\xa9", "iso-8859-1", "é", "utf-8"),  # a byte-order mark wins over the header
        (b"<meta charset=latin1><p>\xc3\xa9", "utf-8", "é", "utf-8"),  # the header over the meta tag
        (b"<meta charset=latin1><p>\xe9", None, "é", "windows-1252"),  # the meta tag over detection
        ("<p>日本語のテキスト".encode("shift_jis"), None, "日本語のテキスト", "shift_jis"),
        (b"\xff\xfe<\x00p\x00>\x00a\x00", "utf-8", "a", "utf-16le"),
        (b"<p>a", "no-such-charset", "a", "utf-8"),
        (
            b"<?xml version='1.0' encoding='cp1251'?><html><p>\xd7\xe0\xe9",
            None,
            "Чай",
            "windows-1251",
        ),  # over detection
        (b"<?xml encoding='cp1251'?><html><meta charset=koi8-r><p>\xfe", None, "Ч", "koi8-r"),  # the meta tag over it
    ],
)
def test_charset_in_the_order_of_the_standard(body: bytes, charset: str | None, text: str, used: str) -> None:
    read = HtmlPage(body, charset, "http://e.org/")
    assert read.text() == text
    if body != b"<p>a":
        assert read.charset == used


def test_robots_header() -> None:
    names = {"sanderling"}
    assert directives(["noindex, nofollow"], names) == (True, True)
    assert directives(["*: noindex"], names) == (False, True)
    assert directives(["otherbot: noindex"], names) == (False, False)
    assert directives(["Sanderling: none"], names) == (True, True)
    assert directives(["sanderling: none"], {"otherbot"}) == (False, False)
    assert directives(["unavailable_after: 25 Jun 2030 15:00:00 GMT", "nofollow"], names) == (True, False)


def test_robots_meta_tags_address_all_or_one_by_name() -> None:
    named = HtmlPage(b'<meta name="MyBot" content="noindex">', None, "http://e.org/")
    assert named.head({"mybot"}).noindex
    assert not named.head({"sanderling"}).noindex
