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
