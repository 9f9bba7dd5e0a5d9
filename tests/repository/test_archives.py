"""Archives are never deleted: what the database does not know is set aside, and damaged bytes are
stepped over."""

from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from sanderling.client.warc_writer import WarcWriter
from sanderling.errors import Damaged
from sanderling.repository import archives, warc
from tests.repository.test_warc import exchange


def responses(path: Path) -> list[str]:
    with path.open("rb") as file:
        return [r.rec_headers.get_header("WARC-Target-URI") for r in ArchiveIterator(file) if r.rec_type == "response"]


def written(folder: Path, count: int) -> tuple[str, dict[str, int], list[int]]:
    """A file with `count` exchanges: its name, how far the first one goes, and where each response
    begins."""
    writer = WarcWriter(folder, "t")
    places = [writer.add(exchange(1)).offset]
    committed = writer.flush()
    places += [writer.add(exchange(n)).offset for n in range(2, count + 1)]
    writer.close()
    return next(iter(committed)), committed, places


def test_uncommitted_bytes_are_set_aside(tmp_path: Path) -> None:
    name, committed, _ = written(tmp_path, 3)
    (tmp_path / "stray.warc.gz").write_bytes((tmp_path / name).read_bytes())
    (tmp_path / "empty.warc.gz").write_bytes(b"")
    done = archives.set_aside(tmp_path, committed)
    assert len(done) == 2
    assert responses(tmp_path / name) == ["http://e.org/1"]
    aside = {path.name: responses(path) for path in (tmp_path / "orphaned").iterdir()}
    tail = f"{name.removesuffix('.warc.gz')}-from-{committed[name]}.warc.gz"
    assert aside == {
        "stray.warc.gz": [f"http://e.org/{n}" for n in (1, 2, 3)],
        tail: ["http://e.org/2", "http://e.org/3"],
    }
    assert archives.set_aside(tmp_path, committed) == []


def test_nothing_that_was_set_aside_is_overwritten(tmp_path: Path) -> None:
    name, *_ = written(tmp_path, 2)
    for _ in range(3):
        (tmp_path / "stray.warc.gz").write_bytes((tmp_path / name).read_bytes())
        archives.set_aside(tmp_path, {name: 10**9})
    assert len(list((tmp_path / "orphaned").iterdir())) == 3


def test_archives_that_lost_bytes_are_named(tmp_path: Path) -> None:
    name, committed, _ = written(tmp_path, 1)
    short = archives.shortages(tmp_path, {name: committed[name] + 5, "lost.warc.gz": 7})
    assert [(each.name, each.size, each.committed) for each in short] == [
        ("lost.warc.gz", 0, 7),
        (name, committed[name], committed[name] + 5),
    ]
    assert archives.shortages(tmp_path, committed) == []


@pytest.mark.parametrize("hole", [(10, 60), (0, 4), (-30, None)])
def test_a_damaged_stretch_hides_only_itself(tmp_path: Path, hole: tuple[int, int | None]) -> None:
    name, _, places = written(tmp_path, 5)
    path = tmp_path / name
    whole = [member.offset for member in archives.members(path)]
    packed = bytearray(path.read_bytes())
    start = places[2] + hole[0] if hole[0] >= 0 else len(packed) + hole[0]
    end = places[2] + hole[1] if hole[1] is not None else len(packed)
    packed[start:end] = b"\xff" * (end - start)
    path.write_bytes(packed)
    members = list(archives.members(path))
    (damaged,) = [member for member in members if member.content is None]
    assert damaged.offset <= start < damaged.offset + damaged.length
    assert [member.offset for member in members if member.content] == [at for at in whole if at != damaged.offset]
    assert sum(member.length for member in members) == len(packed)


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path, "t")
    place = writer.add(exchange(1))
    writer.close()
    (tmp_path / place.warc).write_bytes((tmp_path / place.warc).read_bytes()[: place.offset + 40])
    with pytest.raises(Damaged, match="ends before"):
        warc.read(tmp_path, place)
    (tmp_path / place.warc).unlink()
    with pytest.raises(Damaged, match="missing"):
        warc.read(tmp_path, place)
