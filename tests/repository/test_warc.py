"""WARC files, read by independent readers and after a crash."""

import io
import random
import resource
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator

from sanderling.client.warc_writer import WarcWriter
from sanderling.errors import Damaged
from sanderling.model import Exchange
from sanderling.repository import warc

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n"


def exchange(number: int, body: bytes = b"hello", **more: object) -> Exchange:
    facts = {
        "url": f"http://e.org/{number}", "at": 1700000000.5, "request": b"GET / HTTP/1.1\r\nHost: e.org\r\n\r\n",
        "head": HEAD.replace(b"5", b"%d" % len(body)), "body": body, "mime": "text/html", "address": "192.0.2.1",
        "truncated": False, "protocol": "", "notes": b"fetchTimeMs: 3\r\n", **more,
    }  # fmt: skip
    return Exchange(**facts)  # type: ignore[arg-type]


def test_independent_readers_agree(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path, "t")
    places = [writer.add(exchange(n, b"body %d" % n, truncated=n == 2, protocol="h2")) for n in range(3)]
    writer.add(exchange(9, b"listing", head=b"", request=b"", mime="text/plain"))
    ends = writer.flush()
    writer.close()
    path = tmp_path / places[0].warc
    assert ends == {path.name: path.stat().st_size}
    with path.open("rb") as file:
        kinds, bodies = [], []
        for record in ArchiveIterator(file, check_digests="raise"):
            kinds.append(record.rec_type)
            assert record.rec_headers.protocol == "WARC/1.1"
            content = record.content_stream().read()
            if record.rec_type == "response":
                bodies.append(content)
                assert record.http_headers.get_statuscode() == "200"
    assert kinds == ["warcinfo", *["response", "request", "metadata"] * 3, "resource", "metadata"]
    assert bodies == [b"body 0", b"body 1", b"body 2"]
    fast = list(FastIterator(io.BytesIO(path.read_bytes())))
    assert len(fast) == len(kinds)
    assert len({record.record_id for record in fast}) == len(kinds)


def test_records_are_dated_by_the_clock_of_the_server(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path, "t", clock_apart=-3600.0)
    place = writer.add(exchange(1))
    writer.close()
    assert warc.read(tmp_path, place).at == "2023-11-14T21:13:20.500000Z"


def test_a_response_is_read_back_by_its_place(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path, "t")
    places = [writer.add(exchange(n, b"body %d" % n)) for n in range(5)]
    writer.close()
    read = warc.read(tmp_path, places[3])
    assert (read.url, read.status, read.body) == ("http://e.org/3", 200, b"body 3")
    assert ("Content-Type", "text/html") in read.headers
    with pytest.raises(Damaged):
        warc.read(tmp_path, places[3]._replace(offset=places[3].offset + places[3].length, length=1 << 20))


def test_files_rotate(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path, "t", rotate_at=2000)
    places = [writer.add(exchange(n)) for n in range(20)]
    ends = writer.flush()
    writer.close()
    assert len(ends) > 2
    assert {name: (tmp_path / name).stat().st_size for name in ends} == ends
    assert all(warc.read(tmp_path, place).url == f"http://e.org/{n}" for n, place in enumerate(places))


def test_what_does_not_fit_is_not_taken_for_written(tmp_path: Path) -> None:
    """The system writes only as much as there is room for, and reports success."""
    writer = WarcWriter(tmp_path, "t")
    writer.add(exchange(1, random.Random(1).randbytes(500_000)))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            writer.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        writer.close()


def test_archives_may_be_smaller(tmp_path: Path) -> None:
    page = b"<p>" + b" ".join(b"word%d" % (n * n % 997) for n in range(3000))
    sizes = []
    for smallest in (False, True):
        writer = WarcWriter(tmp_path, f"t{smallest}", smallest=smallest)
        place = writer.add(exchange(1, page))
        writer.close()
        assert warc.read(tmp_path, place).body == page
        sizes.append(place.length)
    assert sizes[1] < sizes[0] * 0.95
