"""Opening a folder for a run: each step may fail, and then nothing is left of those before."""

import contextlib
from pathlib import Path

import pytest

from sanderling.client.warc_writer import WarcWriter
from sanderling.errors import Damaged, FolderInUse
from sanderling.repository.folder import Folder
from sanderling.server import opening
from sanderling.server.opening import OpenCrawl, new_archives, open_crawl, socket_in
from sanderling.server.run_folder import LINK
from sanderling.settings import Settings, load
from tests.repository.test_warc import exchange

SEEDS = ["http://e.org/"]


def opened(folder: Folder, undo: contextlib.ExitStack) -> OpenCrawl:
    return open_crawl(folder, Settings(exclude=("zip",)), SEEDS, undo, lambda reason: None)


def test_a_new_folder_is_made_and_left_in_order(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "crawl")
    with contextlib.ExitStack() as undo:
        crawl = opened(folder, undo)
        assert load(folder.settings) == (Settings(exclude=("zip",)), tuple(SEEDS))
        assert socket_in(crawl.run_folder).exists() and (folder.path / LINK).is_symlink()
        assert new_archives(folder.warcs, crawl.run_folder).is_dir()
        assert crawl.messages == []
        with contextlib.ExitStack() as other, pytest.raises(FolderInUse):
            opened(folder, other)
    assert not crawl.run_folder.exists() and not (folder.path / LINK).is_symlink()
    with contextlib.ExitStack() as undo:
        opened(folder, undo)  # the lock and the store are free again


@pytest.mark.parametrize("step", ["open_store", "run_folder", "SocketSwitchboard"])
def test_what_was_begun_is_undone_when_a_step_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    folder = Folder(tmp_path / "crawl")
    with monkeypatch.context() as patched:
        patched.setattr(opening, step, lambda *_, **__: 1 / 0)
        with contextlib.ExitStack() as undo, pytest.raises(ZeroDivisionError):
            opened(folder, undo)
    assert not (folder.path / LINK).is_symlink()
    assert folder.path.exists() == (step != "open_store")  # a database that was made is kept
    with contextlib.ExitStack() as undo:
        opened(folder, undo)


def test_archives_without_a_database_are_not_orphaned(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "crawl")
    with contextlib.ExitStack() as undo:
        opened(folder, undo)
    writer = WarcWriter(folder.warcs, "t")
    writer.add(exchange(1))
    writer.close()
    with contextlib.ExitStack() as undo, pytest.raises(Damaged, match="the crawl's database is empty"):
        opened(folder, undo)
    assert len(list(folder.warcs.glob("*.warc.gz"))) == 1
