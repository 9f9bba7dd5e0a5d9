"""Damaged and missing archives: they are found, reported, skipped by exports, and fetched again."""

from pathlib import Path

import pytest

from sanderling.testing import ServedWeb
from tests.conftest import FAST, Run
from tests.servers import PageServer, links


@pytest.fixture
def folder(sanderling: Run, web: ServedWeb, tmp_path: Path, kept_in: list[object]) -> Path:
    assert sanderling("crawl", web.url, "-d", tmp_path / "crawl", "--clients", 1, *FAST, *kept_in).code == 0
    return tmp_path / "crawl"


def archive(folder: Path) -> Path:
    (found,) = (folder / "warc").glob("*.warc.gz")
    return found


def damage(path: Path, page: dict[str, int]) -> None:
    packed = bytearray(path.read_bytes())
    packed[page["offset"] + 40 : page["offset"] + 60] = b"\0" * 20
    path.write_bytes(packed)


def test_a_sound_folder_is_sound(sanderling: Run, folder: Path) -> None:
    for flags in ([], ["--deep"]):
        ran = sanderling("check", folder, *flags)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith("sound: ")


def test_one_damaged_record(sanderling: Run, web: ServedWeb, folder: Path, tmp_path: Path) -> None:
    pages = sanderling("pages", folder, "--json").lines
    lost = pages[7]
    damage(archive(folder), lost)
    assert sanderling("check", folder).code == 0
    found = sanderling("check", folder, "--deep", "--json")
    assert found.code == 1
    assert {each["what"] for each in found.lines} == {"damaged", "row"}
    assert [each["where"] for each in found.lines if each["what"] == "row"] == [lost["url"]]
    for form in ("jsonl", "cdxj", "warc", "markdown"):
        ran = sanderling("export", folder, "--format", form, "-o", tmp_path / form)
        assert ran.code == 1, form
        assert "left out 1 that cannot be read" in ran.err
    assert len((tmp_path / "jsonl").read_text().splitlines()) == len(pages) - 1
    repaired = sanderling("check", folder, "--deep", "--repair")
    assert "1 page will be fetched whole at the next visit" in repaired.err
    again = sanderling("crawl", "-d", folder, "--again", *FAST)
    assert again.code == 0
    assert sanderling("export", folder, "--format", "jsonl", "-o", tmp_path / "whole").code == 0
    assert len((tmp_path / "whole").read_text().splitlines()) == len(pages)


@pytest.mark.parametrize("how", ["missing", "short"])
def test_an_archive_that_lost_bytes_does_not_stop_a_crawl(
    sanderling: Run, web: ServedWeb, folder: Path, tmp_path: Path, how: str
) -> None:
    pages = sanderling("pages", folder, "--json").lines
    path = archive(folder)
    if how == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    found = sanderling("check", folder)
    assert found.code == 1
    assert path.name in found.out
    left_out = sanderling("export", folder, "--format", "warc", "-o", tmp_path / "before.warc.gz")
    assert left_out.code == 1
    ran = sanderling("crawl", "-d", folder, "--again", *FAST)
    assert ran.code == 0
    assert "will be fetched again" in ran.err
    whole = sanderling("export", folder, "--format", "jsonl", "-o", "-")
    assert whole.code == 0
    assert len(whole.lines) == len(pages)


def test_a_repaired_folder_reports_no_change_that_did_not_happen(sanderling: Run, web: ServedWeb, folder: Path) -> None:
    """An archive is deleted and its pages are fetched again from a web that stands still."""
    pages = sanderling("pages", folder, "--json").lines
    archive(folder).unlink()
    repaired = sanderling("check", folder, "--deep", "--repair")
    stored = sum(1 for page in pages if page["warc"])
    assert f"{stored:,} pages will be fetched whole at the next visit" in repaired.err
    waiting = sanderling("check", folder, "--json")
    assert waiting.code == 1 and [each["what"] for each in waiting.lines] == ["lost"]
    again = sanderling("crawl", "-d", folder, "--again", *FAST, "--json")
    assert again.code == 0 and again.json["changed"] == 0, again.out
    assert "will be fetched again" not in again.err  # it was said once
    assert sanderling("changes", folder, "--json").lines == []
    assert {len(sanderling("history", folder, page["url"], "--json").lines) for page in pages[:3]} == {1}
    assert sanderling("check", folder).code == 0
    deep = sanderling("check", folder, "--deep")
    assert deep.code == 0, deep.out
    words = sanderling("search", folder, "the", "--json")
    assert words.code == 0, words.err


def test_a_change_after_a_loss_is_told(sanderling: Run, tmp_path: Path) -> None:
    """Bytes outside the text changed on one page and the text on another, after both copies were
    lost."""
    site = {"/": links("/bytes", "/text"), "/bytes": b"<title>a</title><p>dunlin</p>", "/text": b"<p>knot</p>"}
    with PageServer(site) as server:
        assert sanderling("crawl", server.origin + "/", "-d", tmp_path / "c", "--clients", 1, *FAST).code == 0
        archive(tmp_path / "c").unlink()
        server.table |= {"/bytes": b"<title>a</title><p id=x>dunlin</p>", "/text": b"<p>sanderling</p>"}
        assert sanderling("crawl", "-d", tmp_path / "c", "--again", *FAST).code == 0
        told = sanderling("changes", tmp_path / "c", "--json").lines
        assert [each["url"].removeprefix(server.origin) for each in told] == ["/text"]
        assert "the copy before is lost" in told[0]["summary"]


def test_bytes_that_were_set_aside_are_no_damage(sanderling: Run, folder: Path) -> None:
    kept = archive(folder)
    (kept.parent / "orphaned").mkdir()
    (kept.parent / "orphaned" / kept.name).write_bytes(kept.read_bytes())
    ran = sanderling("check", folder)
    assert ran.code == 0 and "set aside" in ran.out
