"""Parts of archives survive the journey bit for bit, and nothing else is taken for one."""

import random
import tracemalloc
from pathlib import Path

import pytest
from msgspec.structs import replace

from sanderling.client.warc_writer import WarcWriter
from sanderling.cluster.landing import BadPiece, Landing
from sanderling.cluster.messages import ArchivePiece
from sanderling.cluster.pieces import LARGEST_PLAIN, Packed, Packer, Unpacker
from sanderling.cluster.spool import Spool
from sanderling.model import Exchange, Found, Outcome, Stored, Visit, VisitReport
from sanderling.repository import warc

CLIENT = "0123456789ab"


def exchange(number: int, size: int = 3000) -> Exchange:
    body = b"<p>the same words on every page of a site</p>" * 20 + random.Random(number).randbytes(size).hex().encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    request = b"GET / HTTP/1.1\r\nHost: e.org\r\n\r\n"
    return Exchange(
        f"http://e.org/{number}", 1e9, request, head, body, "text/html", "", False, "", b"fetchTimeMs: 1\r\n"
    )


def written(spool: Spool, numbers: range) -> dict[str, int]:
    writer = WarcWriter(spool.warcs, CLIENT, place=spool._new)
    for number in numbers:
        writer.add(exchange(number))
    ends = writer.flush()
    writer.close()
    return ends


@pytest.mark.parametrize("compress", [False, True])
def test_archives_arrive_as_they_were_written(tmp_path: Path, compress: bool) -> None:
    spool, packer, landing = Spool({}), Packer(compress), Landing(tmp_path, CLIENT)
    try:
        writer = WarcWriter(spool.warcs, CLIENT, place=spool._new)
        places, archived, sent = [], 0, 0
        for start in (0, 20):  # two reports
            places += [writer.add(exchange(number)) for number in range(start, start + 20)]
            ends = writer.flush()
            for piece in spool.pieces(CLIENT, ends, packer):
                landing.take(piece)
                archived, sent = archived + piece.size, sent + len(piece.packed)
            visits = [Visit(id=n, outcome=Outcome.PAGE, stored=place) for n, place in enumerate(places[-20:])]
            landing.check(VisitReport(CLIENT, 1, 0.0, 0, visits, [], ends))
        writer.close()
        landing.close()
        (name,) = ends
        assert (tmp_path / name).read_bytes() == (spool._new / name).read_bytes()
        assert [warc.read(tmp_path, place).body for place in places] == [exchange(n).body for n in range(40)]
        assert (sent < 0.9 * archived) == compress
    finally:
        spool.close()


def test_what_cannot_be_packed_again_is_sent_as_it_is() -> None:
    """A record that another program wrote, or a part of one."""
    import gzip

    packer, unpacker = Packer(compress=True), Unpacker()
    for part in (gzip.compress(b"WARC/1.1\r\nWARC-Type: response\r\n" + bytes(3000), 9), b"no archive at all"):
        packed = packer.pack(part)
        assert not packed.zstd
        from xxhash import xxh3_128_digest

        assert unpacker.unpack(packed, len(part), xxh3_128_digest(part)) == part


def test_a_few_bytes_do_not_become_gigabytes() -> None:
    """A member of the cluster may send anything."""
    import zstandard

    bomb = zstandard.ZstdCompressor(level=3).compress(bytes(1 << 30))
    empty = zstandard.ZstdCompressor().compress(bytes(LARGEST_PLAIN))  # eight million empty records
    wide = zstandard.ZstdCompressor(
        compression_params=zstandard.ZstdCompressionParameters.from_level(3, window_log=27)
    ).compressobj()
    for content, said in (
        (bomb, "larger unpacked"),
        (empty, "longer than it says"),
        (wide.compress(bytes(1000)) + wide.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK), "cannot be unpacked"),
    ):
        tracemalloc.start()
        with pytest.raises(ValueError, match=said):
            Unpacker().unpack(Packed(content, zstd=True), 1000, bytes(16))
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert used < 4 * LARGEST_PLAIN
    with pytest.raises(ValueError, match="bytes"):
        Unpacker().unpack(Packed(b"", zstd=True), 1 << 40, bytes(16))


def test_records_that_are_too_large_unpacked_are_sent_as_they_are() -> None:
    part = b"".join(warc.packed_record(bytes(LARGEST_PLAIN // 2)) for _ in range(3))
    assert not Packer(compress=True).pack(part).zstd


def test_pieces_that_cannot_be_are_refused(tmp_path: Path) -> None:
    spool = Spool({})
    try:
        ends = written(spool, range(3))
        (piece,) = spool.pieces(CLIENT, ends, Packer(compress=True))
    finally:
        spool.close()
    for wrong in (
        replace(piece, warc="../../etc/passwd"),
        replace(piece, warc=piece.warc.replace(CLIENT, "ffffffffffff")),
        replace(piece, offset=7),
        replace(piece, packed=piece.packed[:-9]),
        replace(piece, digest=bytes(16)),
        replace(piece, packed=b"nonsense"),
        replace(piece, size=1),
    ):
        with pytest.raises(BadPiece):
            Landing(tmp_path, CLIENT).take(wrong)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", [Stored("0123456789ab-20260101000000-00000.warc.gz", 0, 9), Stored("x", 0, 9)])
def test_reports_about_bytes_that_were_not_sent_are_refused(tmp_path: Path, place: Stored) -> None:
    landing = Landing(tmp_path, CLIENT)
    with pytest.raises(BadPiece):
        landing.check(VisitReport(CLIENT, 1, 0.0, 0, [Visit(id=1, outcome=Outcome.PAGE, stored=place)], [], {}))
    with pytest.raises(BadPiece):
        landing.check(VisitReport(CLIENT, 1, 0.0, 0, [], [], {place.warc: 9}))
    for visit in (
        Visit(id=1, outcome=Outcome.PAGE, links=b"odd"),
        Visit(id=1, outcome=Outcome.PAGE, found=[Found(7, "http://elsewhere.org/", "")]),
    ):
        with pytest.raises(BadPiece, match="links"):
            landing.check(VisitReport(CLIENT, 1, 0.0, 0, [visit], [], {}))
    with pytest.raises(BadPiece):
        landing.check(VisitReport("f" * 12, 1, 0.0, 0, [], [], {}))


def test_archives_are_removed_when_they_are_sent_and_followed_by_others() -> None:
    spool = Spool({})
    try:
        writer = WarcWriter(spool.warcs, CLIENT, rotate_at=4000, place=spool._new)
        sent: list[ArchivePiece] = []
        for number in range(4):
            writer.add(exchange(number))
            sent += spool.pieces(CLIENT, writer.flush(), Packer(compress=False))
        writer.close()
        names = sorted({piece.warc for piece in sent})
        assert len(names) > 2
        assert [path.name for path in spool._new.iterdir()] == names[-1:]
    finally:
        spool.close()


def test_a_stream_of_another_packer_is_refused() -> None:
    with pytest.raises(ValueError, match="unpacked"):
        Unpacker().unpack(Packed(b"\0" * 20, zstd=True), 20, bytes(16))
