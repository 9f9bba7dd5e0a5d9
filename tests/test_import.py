"""Web archives of other programs become a crawl: of GNU Wget, WACZ, zstd, ARC, damaged ones."""

import gzip
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
import zstandard
from fastwarc.warc import ArchiveIterator as WarcRecords

from sanderling.repository.opening import reading
from sanderling.repository.warc import read, record
from tests import complete_page
from tests.conftest import FAST, Run
from tests.servers import PageServer, links

HTML = "text/html"


def archive(*captures: tuple[str, str, bytes], packed: bool = True, **more: str) -> bytes:
    """As other programs write responses: URL, media type, body."""
    found = []
    for number, (url, mime, body) in enumerate(captures):
        at = f"2024-05-01T12:{number // 60:02}:{number % 60:02}Z".encode()
        said = "".join(f"{name}: {value}\r\n" for name, value in {"Content-Type": mime, **more}.items())
        block = f"HTTP/2 200\r\n{said}\r\n".encode() + body
        kind = b"application/http; msgtype=response"
        found.append(record(b"response", b"urn:uuid:%d" % number, at, url.encode(), kind, (block,), b""))
    return b"".join(gzip.compress(each) if packed else each for each in found)


def pages(folder: Path, sanderling: Run) -> dict[str, int]:
    rows = sanderling("pages", folder, "--json").out.splitlines()
    return {row["url"]: row["status"] for row in map(json.loads, rows)}


TWO = (
    ("http://a.example/", HTML, links("/two") + b"<p>First about dunlins"),
    ("http://a.example/two", HTML, b"<p>Second"),
)


@pytest.mark.parametrize("form", ["warc", "warc.gz", "whole.warc.gz", "warc.zst", "dictionary.warc.zst", "wacz", "arc"])
def test_every_form_of_archive(form: str, sanderling: Run, tmp_path: Path) -> None:
    plain = archive(*TWO, packed=False)
    file = tmp_path / f"some.{form}"
    if form == "warc":
        file.write_bytes(plain)
    elif form == "warc.gz":
        file.write_bytes(archive(*TWO))
    elif form == "whole.warc.gz":
        file.write_bytes(gzip.compress(plain))
    elif form == "warc.zst":
        file.write_bytes(zstandard.compress(plain[:100]) + zstandard.compress(plain[100:]))
    elif form == "dictionary.warc.zst":
        known = zstandard.ZstdCompressionDict(plain[:2000])
        frame = zstandard.ZstdCompressor(dict_data=known).compress(plain)
        file.write_bytes(b"\x5d\x2a\x4d\x18" + len(known.as_bytes()).to_bytes(4, "little") + known.as_bytes() + frame)
    elif form == "wacz":
        with zipfile.ZipFile(file, "w") as wacz:
            wacz.writestr("archive/../../some.warc.gz", archive(*TWO))
            wacz.writestr(
                "pages/pages.jsonl", '{"format": "json-pages-1.0"}\n{"url": "http://a.example/", "seed": true}\n'
            )
    else:
        records = b"".join(
            b"%b 192.0.2.1 20240501120000 text/html %d\n%b\n" % (url.encode(), len(block), block)
            for url, _, body in TWO
            for block in [b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + body]
        )
        file.write_bytes(b"filedesc://some.arc 0.0.0.0 20240501120000 text/plain 10\n1 0 Name\n\n\n" + records)
    folder = tmp_path / "crawl"
    ran = sanderling("import", file, "-d", folder, "--link")
    assert ran.code == 0 and "2 visits from 1 archive" in ran.out, ran.err
    assert pages(folder, sanderling) == {"http://a.example/": 200, "http://a.example/two": 200}
    assert "dunlins" in sanderling("search", folder, "dunlins").out.replace("*", "")
    assert sanderling("check", folder, "--deep").code == 0
    assert "nothing to take back" in sanderling("import", file, "-d", folder).out
    assert [path.is_symlink() for path in (folder / "warc").iterdir()] == [form == "warc.gz"]
    assert {path.name for path in tmp_path.iterdir()} == {file.name, "crawl"}  # no name in it became a path


@pytest.mark.skipif(shutil.which("wget") is None, reason="GNU Wget is not installed")
def test_archives_of_wget_are_pages_and_their_files(sanderling: Run, tmp_path: Path) -> None:
    other = PageServer(complete_page.files_elsewhere())
    home = PageServer(
        {"/": complete_page.page(other.origin) + links("/two"), "/two": b"<p>v1", **complete_page.files()}
    )
    folder = tmp_path / "crawl"
    with other, home:
        command = ["wget", "-q", "-r", "-p", "--warc-file=site", f"{home.origin}/"]
        subprocess.run(command, cwd=tmp_path, check=False)
        assert sanderling("import", tmp_path / "site.warc.gz", "-d", folder).code == 0
        found = pages(folder, sanderling)
        assert {url.removeprefix(home.origin) for url in found if url.startswith(home.origin)} == {"/", "/two"}
        with reading(folder) as (_, store):
            assert store.counts().requisites > 20
        home.table["/two"] = b"<p>v2 of it"
        assert sanderling("crawl", "-d", folder, "--again", "--allow-private", *FAST).code == 0
    assert "v2 of it" in sanderling("diff", folder, f"{home.origin}/two").out


def test_bodies_come_without_what_the_wire_did(sanderling: Run, tmp_path: Path) -> None:
    body = gzip.compress(b"<p>Packed and cut " * 50)
    chunked = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:40], body[40:])) + b"0\r\n\r\n"
    coded = {"Content-Encoding": "gzip", "Transfer-Encoding": "chunked"}
    (tmp_path / "a.warc.gz").write_bytes(archive(("http://a.example/", HTML, chunked), **coded))
    sanderling("import", tmp_path / "a.warc.gz", "-d", tmp_path / "crawl")
    assert "Packed and cut" in sanderling("export", tmp_path / "crawl", "--format", "jsonl", "-o", "-").out
    assert sanderling("check", tmp_path / "crawl", "--deep").code == 0


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("lies.warc", archive(*TWO, packed=False).replace(b"Content-Length: ", b"Content-Length: 9", 1), "that cannot be read"),
        ("short.warc", archive(*TWO, packed=False)[:-60], "that cannot be read"),
        ("short.warc.gz", gzip.compress(archive(*TWO, packed=False))[:-40], "that cannot be read"),
        ("none.warc", b"nothing of this kind", "that cannot be read"),
        ("broken.wacz", b"PK\x03\x04 and no more", "is a damaged ZIP file"),
        ("empty.wacz", b"", "no record"),
    ],
    ids=lambda each: each if isinstance(each, str) and "." in each else "",
)  # fmt: skip
def test_bad_archives_are_one_sentence(name: str, content: bytes, said: str, sanderling: Run, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.warc.gz", tmp_path / name
    good.write_bytes(archive(("http://b.example/", HTML, b"<p>Good")))
    bad.write_bytes(content)
    folder = tmp_path / "crawl"
    ran = sanderling("import", bad, good, "-d", folder)
    assert (said in ran.err and ran.code != 0) or said == "no record"
    if name.endswith("wacz") and content:
        assert sanderling("import", good, "-d", folder).code == 0  # nothing was begun
    assert pages(folder, sanderling)["http://b.example/"] == 200


def test_bombs_are_stepped_over(sanderling: Run, tmp_path: Path) -> None:
    """One record that unpacks to 200 MiB, and one whose body does."""
    much = gzip.compress(bytes(200 << 20), 1)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    at, kind = b"2024-05-01T12:00:09Z", b"application/http; msgtype=response"
    bomb = record(b"response", b"urn:uuid:9", at, b"http://a.example/bomb", kind, (head, bytes(200 << 20)), b"")
    inside = archive(("http://a.example/inside", HTML, much), **{"Content-Encoding": "gzip"})
    file = tmp_path / "bombs.warc.gz"
    file.write_bytes(archive(TWO[0]) + gzip.compress(bomb, 1) + inside + archive(TWO[1]))
    assert sanderling("import", file, "-d", tmp_path / "crawl").code == 0
    assert pages(tmp_path / "crawl", sanderling) == {"http://a.example/": 200, "http://a.example/two": 200}


def test_an_export_as_zstd_comes_back(crawled: Path, sanderling: Run, tmp_path: Path) -> None:
    file = tmp_path / "small.warc.zst"
    assert sanderling("export", crawled / "small", "--format", "warc.zst", "-o", file).code == 0
    plain = b"".join(map(gzip.decompress, [path.read_bytes() for path in (crawled / "small" / "warc").glob("*.gz")]))
    with file.open("rb") as stream:
        assert sum(1 for _ in WarcRecords(stream)) == plain.count(b"WARC/1.1\r\n")
    assert file.stat().st_size < len(plain) / 3  # of which half is the dictionary
    assert sanderling("import", file, "-d", tmp_path / "again").code == 0
    before, after = (
        {(row["url"], row["digest"]) for row in sanderling("pages", folder, "--json").lines if row["warc"]}
        for folder in (crawled / "small", tmp_path / "again")
    )
    assert before == after


def test_bytes_of_another_url_are_read(sanderling: Run, tmp_path: Path) -> None:
    """A `revisit` of a URL that was not seen before, as crawlers write it that know all digests."""
    script, digest = b"let birds = 1;", b"WARC-Payload-Digest: sha1:SOMETHING\r\n"
    head, kind = b"HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\n\r\n", b"application/http; msgtype=response"
    first = record(
        b"response", b"urn:uuid:1", b"2024-05-01T12:00:01Z", b"http://a.example/a.js", kind, (head, script), digest
    )
    second = record(b"revisit", b"urn:uuid:2", b"2024-05-01T12:00:02Z", b"http://a.example/b.js", kind, (head,), digest)
    (tmp_path / "a.warc.gz").write_bytes(archive(TWO[0]) + gzip.compress(first) + gzip.compress(second))
    folder = tmp_path / "crawl"
    assert sanderling("import", tmp_path / "a.warc.gz", "-d", folder).code == 0
    with reading(folder) as (_, store):
        files = {row.url: read(folder / "warc", row.stored).body for row in store.changes() if row.url.endswith(".js")}
    assert files == dict.fromkeys(("http://a.example/a.js", "http://a.example/b.js"), script)
    assert sanderling("check", folder).code == 0


def test_what_is_no_page_is_left_out(sanderling: Run, tmp_path: Path) -> None:
    file = tmp_path / "odd.warc.gz"
    odd = (
        ("http://a.example/robots.txt", "text/plain", b"User-agent: *"),
        ("urn:pageinfo:http://a.example/", "application/json", b"{}"),
        ("http://a.example/logo.png", "image/png", b"\x89PNG"),
        ("http://a.example/?utm_source=x", HTML, b"<p>A page"),
    )
    file.write_bytes(archive(*odd))
    folder = tmp_path / "crawl"
    assert sanderling("import", tmp_path, "-d", folder).code == 0
    assert pages(folder, sanderling) == {"http://a.example/": 200}
    missing = sanderling("import", tmp_path / "none.warc", "-d", folder)
    assert missing.code == 2 and "does not exist" in missing.err
    (tmp_path / "empty").mkdir()
    assert "holds no archives" in sanderling("import", tmp_path / "empty", "-d", folder).err
    assert "is in the crawl folder itself" in sanderling("import", folder, "-d", folder).err
