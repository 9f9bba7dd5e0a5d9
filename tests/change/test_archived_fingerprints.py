"""Fingerprints of archived pages are taken in a child process with limits."""

from contextlib import closing

import msgspec

from sanderling.change.archived import ArchivedDocument, ArchivedReader
from sanderling.change.judging import fingerprinter
from sanderling.documents.reading import document_of, links_of
from sanderling.documents.visible import visible_text
from sanderling.settings import Rule, Settings

URL = "http://site.example/page"
HTML = b"<title>T</title><h1>One</h1><p>Two <a href=/x>three</a><div class=ad>Buy</div>"


def test_the_child_takes_the_fingerprint_that_a_client_takes() -> None:
    for rules in ((), (Rule(urls=".", ignore=(".ad",)),)):
        settings = Settings(rules=rules)
        with closing(ArchivedReader(settings)) as child:
            taken = child.fingerprint("http://site.example", ArchivedDocument(URL, HTML, "text/html", ()))
        document = document_of(URL, HTML, "text/html")
        assert document is not None
        links = links_of(document, URL, (), settings)
        assert taken == fingerprinter(rules)(document, URL)(visible_text(document), links)


def test_a_page_that_takes_too_long_costs_its_site_little(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("sanderling.change.archived.MOST_LOST", 0.2)
    slow = ArchivedDocument(URL, HTML * 20_000, "text/html", ())
    plain = ArchivedDocument("http://other.example/", HTML, "text/html", ())
    with closing(ArchivedReader(Settings(), seconds=0.02)) as child:
        while not child._lost["http://site.example"] > 0.2:
            assert child.fingerprint("http://site.example", slow) == b""
        assert (
            child.fingerprint("http://site.example", msgspec.structs.replace(plain, url=URL)) == b""
        )  # not even asked


def test_a_bomb_ends_nothing() -> None:
    bomb = ArchivedDocument(
        URL, b"<p>" + b"".join(b"<b a%d>" % n for n in range(600)) + b"<p>x" * 30_000, "text/html", ()
    )
    with closing(ArchivedReader(Settings())) as child:
        assert child.fingerprint("http://site.example", bomb) == b""
        assert child.fingerprint("http://other.example", ArchivedDocument(URL, HTML, "text/html", ())) != b""


def test_the_child_says_what_differs() -> None:
    older = ArchivedDocument(URL, b"<p>It costs 79.00 today", "text/html", ())
    newer = ArchivedDocument(URL, b"<p>It costs 75.00 today", "text/html", ())
    with closing(ArchivedReader(Settings())) as child:
        said = child.excerpt("http://site.example", older, newer)
    assert "79.00" in said and "75.00" in said
