"""The archives of a crawl say all that was sent and received, and other tools can replay them."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from tests.conftest import FAST, Run
from tests.servers import Answer, PageServer, links, listening, redirect


class Record(NamedTuple):
    kind: str
    url: str
    fields: dict[str, str]
    head: str  # of HTTP: status line or request line
    content: bytes


def records(folder: Path) -> Iterator[Record]:
    for path in sorted((folder / "warc").glob("*.warc.gz")):
        with path.open("rb") as file:
            for each in ArchiveIterator(file, no_record_parse=True):
                content = each.raw_stream.read()
                fields = dict(each.rec_headers.headers)
                head = content.partition(b"\r\n")[0].decode("latin-1")
                yield Record(each.rec_type, fields.get("WARC-Target-URI", ""), fields, head, content)


def check(folder: Path) -> None:
    """As `warcio check` does it."""

    class Options:
        inputs = tuple(str(path) for path in (folder / "warc").glob("*.warc.gz"))
        verbose = False

    checker = Checker(Options)
    checker.process_all()
    assert checker.exit_value == 0


SITE = {
    "/": links("/busy", "/moved", "/lost", "/page"),
    "/page": b"<title>A page</title>",
    "/moved": redirect("/page"),
    "/busy": lambda count: Answer(b"later", status=503) if count == 1 else b"<title>At last</title>",
    "/robots.txt": Answer(b"User-agent: *\nDisallow: /private", "text/plain"),
}


def test_every_response_is_archived(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    with PageServer(SITE) as server:
        listed = f"<urlset><url><loc>{server.origin}/page</loc></url></urlset>".encode()
        server.table["/sitemap.xml"] = Answer(listed, "application/xml")
        assert sanderling("crawl", server.origin, "-d", folder, *FAST, "--retry-wait", "0.1s").code == 0
    responses = [each for each in records(folder) if each.kind == "response"]
    assert sorted((each.url.removeprefix(server.origin), each.head.split()[1]) for each in responses) == [
        ("/", "200"), ("/busy", "200"), ("/busy", "503"), ("/lost", "404"), ("/moved", "302"), ("/page", "200"),
        ("/robots.txt", "200"), ("/sitemap.xml", "200"),
    ]  # fmt: skip
    pages = sanderling("pages", folder, "--json").lines
    assert not {"/robots.txt", "/sitemap.xml"} & {row["url"].removeprefix(server.origin) for row in pages}
    assert len(sanderling("changes", folder, "--all", "--json").lines) == 3
    assert sanderling("check", folder, "--deep").code == 0
    check(folder)


def test_records_have_digests(sanderling: Run, crawled: Path) -> None:
    check(crawled / "small")
    assert all(record.fields.get("WARC-Block-Digest") for record in records(crawled / "small"))


@pytest.mark.parametrize("more", [(), ("--cookies",)])
def test_requests_are_archived_as_they_were_sent(sanderling: Run, tmp_path: Path, more: tuple[str, ...]) -> None:
    heard = []

    def serve(client: socket.socket) -> None:
        told = b""
        while chunk := client.recv(65536):
            told += chunk
            while b"\r\n\r\n" in told:
                request, _, told = told.partition(b"\r\n\r\n")
                heard.append(request + b"\r\n\r\n")
                body = links("/a", "/b?c=d") if b"GET / " in request else b"<p>A page</p>"
                extra = b'Content-Type: text/html\r\nETag: "x"\r\nSet-Cookie: seen=yes\r\n'
                client.sendall(b"HTTP/1.1 200 OK\r\n%bContent-Length: %d\r\n\r\n%b" % (extra, len(body), body))

    with listening(serve) as (host, port):
        assert sanderling("crawl", f"http://{host}:{port}/", "-d", tmp_path / "c", *FAST, *more).code == 0
        assert sanderling("crawl", "-d", tmp_path / "c", "--again", "--revisit-records").code == 0
    sent = [record.content for record in records(tmp_path / "c") if record.kind == "request"]
    assert sorted(sent) == sorted(heard)
    assert any(b'If-None-Match: "x"' in request for request in sent)
    assert any(b"Cookie: seen=yes" in request for request in sent) is bool(more)


def test_revisits_name_the_record_that_has_the_content(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    not_modified = Answer(b"", status=304, headers=(("ETag", '"x"'), ("X-Told", "by the 304")))
    site = {
        "/": links("/told"),  # without validators: found to be the same
        "/told": lambda count: Answer(b"<p>As ever</p>", headers=(("ETag", '"x"'),)) if count == 1 else not_modified,
    }
    with PageServer(site) as server:
        assert sanderling("crawl", server.origin, "-d", folder, *FAST).code == 0
        for _ in range(2):
            assert sanderling("crawl", "-d", folder, "--again", "--revisit-records").code == 0
    found = list(records(folder))
    originals = {r.url: r for r in found if r.kind == "response" and r.head.endswith("200 OK")}
    revisits = [record for record in found if record.kind == "revisit"]
    assert len(revisits) == 4
    for record in revisits:
        original = originals[record.url].fields
        assert record.fields["WARC-Refers-To"] == original["WARC-Record-ID"]
        assert record.fields["WARC-Refers-To-Date"] == original["WARC-Date"]
        assert record.fields["WARC-Refers-To-Target-URI"] == record.url
        assert record.fields["WARC-Payload-Digest"] == original["WARC-Payload-Digest"]
    # Replay tools answer with the head in a revisit record: a 304 would show an empty page.
    assert {record.head for record in revisits} == {"", "HTTP/1.1 200 OK"}
    notes = b"".join(record.content for record in found if record.kind == "metadata")
    assert notes.count(b"httpStatusLine: HTTP/1.1 304 Not Modified\r\n") == 2
    assert b"httpHeader: X-Told: by the 304\r\n" in notes
    check(folder)
    lines = sanderling("export", folder, "--format", "cdxj", "-o", "-").out.splitlines()
    listed = [json.loads(line.split(" ", 2)[2]) for line in lines]
    same = [(each["mime"], each["digest"]) for each in listed if each["url"].endswith("/told")]
    digest = originals[server.origin + "/told"].fields["WARC-Payload-Digest"]
    assert same == [("text/html", digest), ("warc/revisit", digest), ("warc/revisit", digest)]
