"""Damaged and missing archives: they are found, reported, skipped by exports, and fetched again."""

from pathlib import Path

import pytest

from sanderling.testing import ServedWeb
from tests.conftest import FAST, Run


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
