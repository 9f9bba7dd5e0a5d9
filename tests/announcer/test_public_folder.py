"""Whoever may write into the public folder of a site gets nothing else by it."""

import os
from pathlib import Path

import pytest

from sanderling import clock
from sanderling.announcements import write_manifest
from sanderling.files import write_whole
from sanderling_announce.errors import CannotAnnounce
from sanderling_announce.linked import linked_by
from sanderling_announce.manifest import Manifest
from tests.announcer.sites import SITE, WatchedSite


def test_a_report_is_not_written_through_a_link_out_of_the_site(tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / ".well-known").symlink_to(away)
    with pytest.raises(CannotAnnounce, match="leads out of"):
        WatchedSite(tmp_path)
    assert not list(away.iterdir())


def test_files_of_a_report_take_the_place_of_links(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    site = WatchedSite(tmp_path)
    site.write("a.html")
    site.settle()
    folder = site.announcer.publisher.folder
    written = sorted(each for each in folder.iterdir() if each.is_file())
    assert len(written) > 2
    for each in written:
        content = each.read_bytes()
        each.unlink()
        for link in (each, each.with_name(each.name + ".part")):
            link.symlink_to(victim)
        site.announcer.publisher._write_named(each.name, content)
        assert not each.is_symlink() and each.read_bytes() == content
    assert victim.read_text() == "precious"
    site.finish()


def test_a_file_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "file").symlink_to(tmp_path / "victim")
    write_whole(tmp_path / "file", b"new")
    assert (tmp_path / "victim").read_text() == "precious" and (tmp_path / "file").read_bytes() == b"new"


def test_the_time_of_a_manifest_in_the_public_folder_is_not_believed(tmp_path: Path) -> None:
    site = WatchedSite(tmp_path)
    site.write("a.html")
    site.settle()
    site.finish()
    now = clock.now()
    later = Manifest("sanderling-announcement-1", SITE, "log", 1, now + 1e9, now + 2e9, True, 1)
    (site.announcer.publisher.folder / "manifest.jsonl").write_bytes(write_manifest(later, bytes(32)))
    site.start()
    site.write("b.html")
    site.settle()
    assert site.reader.manifest().generated < clock.now() + 60  # which raises when it is from the future
    site.finish()


def test_the_main_page_is_a_file_of_the_site(tmp_path: Path) -> None:
    """A pipe would be waited for, and a link out of the site shows what others keep private."""
    root = tmp_path / "www"
    root.mkdir()
    os.mkfifo(root / "index.html")
    (tmp_path / "private").write_text('<a href="/secret-plan.html">')
    (root / "index.htm").symlink_to(tmp_path / "private")
    assert linked_by(root, SITE)() == {SITE}
