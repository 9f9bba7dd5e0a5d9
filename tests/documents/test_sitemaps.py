"""Sitemaps and feeds, honest and hostile."""

import gzip

import pytest

from sanderling.documents import sitemaps
from sanderling.documents.sitemaps import NotASitemap, SitemapEntry, read
from sanderling.model import Kind

SPACE = b'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n'


def urls(body: bytes) -> list[str]:
    return [entry.url for entry in read(body)]


def test_a_sitemap_with_everything() -> None:
    body = (
        HEAD
        + b"<urlset "
        + SPACE
        + b""">
      <url><loc> http://e.org/a?x=1&amp;y=2 </loc><lastmod>2024-05-01</lastmod></url>
      <url><loc>http://e.org/&#x65;?x=1&#38;y=&amp;#38;</loc></url>
      <url><lastmod>2024-05-01T12:00:00+02:00</lastmod><loc><![CDATA[http://e.org/b]]></loc></url>
      <!-- <sitemap></sitemap> -->
      <url><loc>http://e.org/c</loc><image:image><image:loc>http://e.org/c.png</image:loc></image:image>
        <lastmod>last week</lastmod></url>
      <url><loc>file:///etc/passwd</loc></url><url><loc>javascript:alert(1)</loc></url><url></url>
      <url><loc>HTTPS://E.org:443/%7ed#top</loc></url>
    </urlset>"""
    )
    assert list(read(body)) == [
        SitemapEntry("http://e.org/a?x=1&y=2", Kind.PAGE, 1714521600.0),
        SitemapEntry("http://e.org/e?x=1&y=&", Kind.PAGE, 0.0),
        SitemapEntry("http://e.org/b", Kind.PAGE, 1714557600.0),
        SitemapEntry("http://e.org/c", Kind.PAGE, 0.0),
        SitemapEntry("https://e.org/~d", Kind.PAGE, 0.0),
    ]


def test_an_index_and_prefixes() -> None:
    body = b"<s:sitemapindex><s:sitemap><s:loc>http://e.org/1.xml.gz</s:loc></s:sitemap></s:sitemapindex>"
    assert list(read(body)) == [SitemapEntry("http://e.org/1.xml.gz", Kind.SOURCE, 0.0)]


def test_text_gzip_and_other_encodings() -> None:
    assert urls(b"\xef\xbb\xbfhttp://e.org/1\r\nnonsense\n\nhttp://e.org/2") == ["http://e.org/1", "http://e.org/2"]
    xml = (
        HEAD + b"<urlset>" + b"".join(b"<url><loc>http://e.org/%d</loc></url>" % n for n in range(30000)) + b"</urlset>"
    )
    assert urls(gzip.compress(xml)) == [f"http://e.org/{n}" for n in range(30000)]
    assert urls(gzip.compress(xml)[:5000])[:2] == ["http://e.org/0", "http://e.org/1"]
    halves = gzip.compress(xml[:100_000]) + gzip.compress(xml[100_000:])  # as parallel packers write them
    assert urls(halves) == urls(xml)
    wide = "<urlset><url><loc>http://e.org/ä</loc></url></urlset>".encode("utf-16")
    assert urls(wide) == ["http://e.org/%C3%A4"]


def test_feeds_give_dates() -> None:
    rss = b"""<rss><channel><link>http://e.org/</link><item><title>x</title><link>http://e.org/1</link>
      <pubDate>Wed, 01 May 2024 00:00:00 GMT</pubDate></item></channel></rss>"""
    assert sitemaps.dates(rss) == {"http://e.org/1": 1714521600.0}
    atom = b"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://e.org/feed" rel="self"/><entry>
      <link rel="edit" href="http://e.org/edit"/><link href="http://e.org/2"/><published>2020-01-01T00:00:00Z</published>
      <updated>2024-05-01T00:00:00Z</updated></entry></feed>"""
    assert sitemaps.dates(atom) == {"http://e.org/2": 1714521600.0}
    assert sitemaps.dates(b"<html><p>no feed") == {}
    guid = b"<item><guid%s>http://e.org/3</guid><pubDate>Wed, 01 May 2024 00:00:00 GMT</pubDate></item>"
    assert sitemaps.dates(b"<rss>" + guid % b"") == {"http://e.org/3": 1714521600.0}
    assert sitemaps.dates(b"<rss>" + guid % b' isPermaLink="false"') == {}


@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE html><html><body>not found</body></html>",
        b"  <HTML><head>",
        b"<p>Sorry, no such page</p>",
        b'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">]><urlset><url><loc>&lol;</loc></url></urlset>',
        b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset/>',
        b"\x89PNG\x00\x00",
    ],
)
def test_what_is_no_sitemap_is_refused(body: bytes) -> None:
    with pytest.raises(NotASitemap):
        list(read(body))


def test_bombs_are_read_as_far_as_allowed() -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * 300_000_000)
    assert urls(bomb) == []
    assert urls(gzip.compress(b"") * 500_000) == []
    many = b"<urlset>" + b"<url><loc>http://e.org/x</loc></url>" * 60_000
    assert len(urls(many)) == sitemaps.MOST_ENTRIES
    for evil in (
        b"<url>" * 400_000,
        b"<url><loc>" * 200_000,
        b"<" * 2_000_000,
        b"<url " * 400_000,
        b"<loc><![CDATA[" * 100_000,
    ):
        assert urls(b"<urlset>" + evil) == []
    assert urls(b"<urlset><url><loc>http://e.org/" + b"a" * 10_000_000 + b"</loc></url></urlset>") == []


# ---- files that are not markup, and other charsets


@pytest.mark.parametrize(
    ("hidden", "listed"),
    [
        (b"<!-- <url><loc>http://e.org/no</loc></url> -->", []),
        (b"<!--><url><loc>http://e.org/no</loc></url>-->", []),
        (b"<![CDATA[<url><loc>http://e.org/no</loc></url>]]>", []),
        (b"<?x <url><loc>http://e.org/no</loc></url>?>", []),
        (b"<!-- <![CDATA[ --><url><loc>http://e.org/yes</loc></url>", ["http://e.org/yes"]),
        (b"<url><loc><!-- http://e.org/no -->http://e.org/yes</loc></url>", ["http://e.org/yes"]),
        (b"<url><loc>http://e.org/<![CDATA[y&]]>es</loc></url>", ["http://e.org/y&es"]),
    ],
)
def test_only_markup_is_markup(hidden: bytes, listed: list[str]) -> None:
    body = b"<urlset>" + hidden + b"<url><loc>http://e.org/last</loc></url></urlset>"
    assert urls(body) == [*listed, "http://e.org/last"]


def test_a_long_comment_hides_no_list() -> None:
    assert urls(HEAD + b"<!--" + b" " * 900_000 + b"--><urlset><url><loc>http://e.org/1</loc></url></urlset>") != []
    assert urls(b"<urlset/>") == []


def test_what_is_not_closed_ends_the_list() -> None:
    body = b"<urlset><url><loc>http://e.org/1</loc></url>"
    assert urls(body + b"<!-- " * 100_000 + b"<url><loc>http://e.org/2</loc></url>") == ["http://e.org/1"]
    assert urls(body + b"<![CDATA[" * 100_000) == ["http://e.org/1"]


@pytest.mark.parametrize(
    "doctype", [b"<!DOCTYPE urlset>", b'<!DOCTYPE urlset SYSTEM "http://e.org/x.dtd">', b"<!-- <!DOCTYPE x [ -->"]
)
def test_a_bare_document_type_does_no_harm(doctype: bytes) -> None:
    assert urls(HEAD + doctype + b"<urlset><url><loc>http://e.org/1</loc></url></urlset>") == ["http://e.org/1"]


@pytest.mark.parametrize(
    "doctype", [b'<!DOCTYPE x [<!ENTITY a "b">]>', b"<!DOCTYPE x SYSTEM 'y' [", b'<!ENTITY a "b">']
)
def test_entities_are_refused(doctype: bytes) -> None:
    with pytest.raises(NotASitemap, match="entities"):
        urls(HEAD + doctype + b"<urlset><url><loc>http://e.org/&a;</loc></url></urlset>")


LISTED = "<urlset><url><loc>http://e.org/\u043c\u0438\u0440</loc></url></urlset>"


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        (f'<?xml version="1.0" encoding="windows-1251"?>{LISTED}'.encode("windows-1251"), None),
        (f'<?xml version="1.0" encoding="windows-1251"?>{LISTED}'.encode("windows-1251"), "utf-8"),
        (f'<?xml version="1.0" encoding="UTF-8"?>{LISTED}'.encode(), "iso-8859-1"),
        (LISTED.encode("utf-16-le"), "utf-16"),
        (LISTED.encode("utf-16-be"), "UTF-16BE"),
        (f'<?xml version="1.0" encoding="utf-16"?>{LISTED}'.encode("utf-16-le"), None),
        (f'<?xml version="1.0" encoding="utf-16"?>{LISTED}'.encode("utf-16-be"), None),
        (LISTED.encode("utf-16"), None),
        (LISTED.encode("utf-8-sig"), "utf-16"),
    ],
)
def test_a_list_in_any_charset(body: bytes, charset: str | None) -> None:
    assert [entry.url for entry in read(body, charset)] == ["http://e.org/%D0%BC%D0%B8%D1%80"]


def test_links_of_feeds_are_relative_to_their_base() -> None:
    feed = (
        b'<feed xml:base="http://e.org/blog/"><link href="."/>'
        b'<entry><link href="1"/><updated>2024-05-01</updated></entry>'
        b'<entry xml:base="2024/"><link href="2"/></entry><entry><link xml:base="/x/" href="3"/></entry>'
        b'<entry xml:base="javascript:"><link href="4"/></entry></feed>'
    )
    listed = ["http://e.org/blog/1", "http://e.org/blog/2024/2", "http://e.org/x/3", "http://e.org/blog/4"]
    assert urls(feed) == listed
    relative = feed.replace(b"http://e.org/blog/", b"blog/")
    assert urls(relative) == []
    assert [entry.url for entry in read(relative, None, "http://e.org/feed")] == listed
    assert sitemaps.dates(relative, None, "http://e.org/feed") == {"http://e.org/blog/1": 1714521600.0}
    assert urls(b"<urlset><url><loc>/relative</loc></url></urlset>") == []
