import pytest

from sanderling.documents.charsets import decode
from sanderling.documents.formats import kind_of, read_xml
from sanderling.documents.html import HtmlPage
from sanderling.documents.reading import visible_text
from tests.papers import zipped


@pytest.mark.parametrize(
    ("body", "mime", "kind"),
    [
        (b"<!doctype html><p>x", "text/html", "html"),
        (b"<html><p>x", "", "html"),
        (b"<?xml version='1.0'?><html xmlns='x'><p>x", "application/xhtml+xml", "html"),
        (b"<?xml version='1.0'?><rss/>", "application/rss+xml", "xml"),
        (b"<?xml version='1.0'?><rss/>", "", "xml"),
        (b"plain words", "text/plain", "text"),
        (b"<html> shown as source", "text/plain", "text"),
        (b"{}", "application/json", "text"),
        (b"%PDF-1.4", "text/html", "pdf"),
        (b"{\\rtf1 x}", "text/plain", "rtf"),
        (zipped({"notes.txt": b"word/ xl/ ppt/"}), "application/zip", "bytes"),
        (zipped({"xl/notes.txt": b"", "_rels/.rels": b""}), "application/zip", "xlsx"),
        (zipped({"META-INF/manifest.xml": b"", "content.xml": b""}), "", "odf"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "application/vnd.ms-excel", "bytes"),
        (b"\x89PNG\r\n", "text/html", "bytes"),
        (bytes(range(32)) * 50, "text/html", "bytes"),
        (b"\x00\x01\x02", "application/octet-stream", "bytes"),
        (b"GIF89a", "image/gif", "bytes"),
        (b"<html><a href=x>", "image/png", "html"),
        (b"", "", "text"),
    ],
)
def test_kind_by_content(body: bytes, mime: str, kind: str) -> None:
    assert kind_of(body, mime) == kind


def test_xml_reads_links_and_refuses_entities() -> None:
    feed = b"<rss><channel><title>News</title><item><link>http://e.org/1</link></item></channel></rss>"
    assert read_xml(feed, None).links == ["http://e.org/1"]
    assert read_xml(feed, None).title == "News"
    bomb = b'<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><x>&b;</x>'
    assert read_xml(bomb, None).text == ""
    outside = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'
    assert "root" not in read_xml(outside, None).text
    assert read_xml(b"<a>" * 100_000, None).links == []


@pytest.mark.parametrize("charset", ["windows-1253", "iso-2022-jp", "utf-8"])
def test_xml_says_its_charset_itself(charset: str) -> None:
    said = {"windows-1253": "Γη", "iso-2022-jp": "日本", "utf-8": "é"}[charset]
    body = f'<?xml version="1.0" encoding="{charset}"?><title>{said}</title>'.encode(charset)
    assert read_xml(body, None).title == said


def test_elements_of_xml_do_not_run_into_each_other() -> None:
    feed = b"<rss><channel><title>News</title><item><title>Storm</title><description>at sea</description></item></channel></rss>"
    assert read_xml(feed, None).text == "News\nStorm\nat sea"


def test_xml_that_can_be_read_is_not_in_utf_16() -> None:
    assert read_xml('<?xml version="1.0" encoding="utf-16"?><title>é</title>'.encode(), None).title == "é"


def test_decode_never_fails() -> None:
    assert decode(b"\xef\xbb\xbfx", "latin-1") == "x"
    assert decode(b"\xe9", "no-such") == "é"
    assert decode(b"\xff\xfea\x00", None) == "a"
    assert decode(b"abc\xff", "utf-8")


FEED = """<rss><channel><title>News</title><link>http://e.org/</link><item><title>{}</title><link>{}</link>
<guid>http://e.org/guid</guid><guid isPermaLink="false">http://e.org/no</guid><guid>urn:7</guid></item></channel></rss>"""


def test_what_a_feed_says_in_cdata_counts() -> None:
    read = read_xml(FEED.format("<![CDATA[Fish & <b>chips</b>]]>", "<![CDATA[http://e.org/?a=1&b=2]]>").encode(), None)
    assert read.links == ["http://e.org/", "http://e.org/?a=1&b=2", "http://e.org/guid"]
    assert "Fish & <b>chips</b>" in read.text
    assert read_xml(b"<r>" + b"<![CDATA[" * 500_000, None).links == []


@pytest.mark.parametrize("broken", ["Fish & chips", "Fish&nbsp;chips", "Fish<br>chips"])
def test_a_feed_that_is_not_well_formed_is_read_all_the_same(broken: str) -> None:
    read = read_xml(FEED.format(broken, "http://e.org/1").encode(), None)
    assert read.links == ["http://e.org/1"]
    assert "chips" in read.text and "<" not in read.text
    assert read_xml(b"<note>no & feed</note>", None) == ("", [], "")


def test_a_feed_may_begin_with_empty_lines() -> None:
    assert read_xml(b"\xef\xbb\xbf\n<?xml version='1.0'?>" + FEED.format("x", "/1").encode(), None).title == "News"


def test_looking_for_html_ends() -> None:
    """There are 2^n ways to group n comments. Trying all of them would take for ever."""
    assert kind_of(b"<!-- -->" * 500 + b"<nothing", "") != "html"
    assert kind_of(b"<!-- x --><?xml version='1.0'?> <!----> <html>", "") == "html"


RUSSIAN = "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440"


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be", "utf-16"])
@pytest.mark.parametrize(
    ("markup", "mime", "kind"),
    [
        (f"<html><title>{RUSSIAN}</title><p>{RUSSIAN * 20}", "text/html", "html"),
        (RUSSIAN * 20, "text/plain", "text"),
        (f"<rss><title>{RUSSIAN}</title></rss>", "application/rss+xml", "xml"),
        (f"<?xml version='1.0'?><rss><title>{RUSSIAN}</title></rss>", "", "xml"),
    ],
)
def test_utf_16_is_text_with_and_without_a_mark(name: str, markup: str, mime: str, kind: str) -> None:
    body = markup.encode(name)
    charset = None if name == "utf-16" else name.replace("16-", "16")
    assert kind_of(body, mime, charset) == kind
    assert RUSSIAN in decode(body, charset)
    assert RUSSIAN in visible_text("http://e.org/", body, f"{mime}; charset={charset}" if charset else mime)


def test_an_xml_declaration_shows_utf_16_by_itself() -> None:
    for name in ("utf-16-le", "utf-16-be"):
        feed = f"<?xml version='1.0' encoding='utf-16'?><rss><title>{RUSSIAN}</title></rss>".encode(name)
        assert kind_of(feed, "application/xml") == "xml"
        assert read_xml(feed, None).title == RUSSIAN
        page = f"<?xml version='1.0' encoding='utf-16'?><html><title>{RUSSIAN}</title></html>".encode(name)
        assert kind_of(page, "application/xhtml+xml") == "html"
        assert HtmlPage(page, None, "http://e.org/").title() == RUSSIAN


def test_links_of_xml_are_relative_to_their_base() -> None:
    feed = (
        b'<feed xml:base="http://e.org/blog/"><link href="."/><entry xml:base="2024/"><link href="2"/></entry>'
        b'<entry><link xml:base="/x/" href="3"/></entry><entry xml:base="http://["><link href="4"/></entry></feed>'
    )
    listed = ["http://e.org/blog/", "http://e.org/blog/2024/2", "http://e.org/x/3", "4"]
    assert read_xml(feed, None).links == listed
    relative = feed.replace(b"http://e.org/blog/", b"blog/")
    assert read_xml(relative, None).links == ["blog/", "blog/2024/2", "/x/3", "4"]


def test_a_comment_in_xml_may_mention_cdata() -> None:
    read = read_xml(b"<rss><!-- <![CDATA[ --><item><link>http://e.org/1</link></item><a><![CDATA[b]]></a></rss>", None)
    assert read.links == ["http://e.org/1"]
    assert read.text == "http://e.org/1\nb"
