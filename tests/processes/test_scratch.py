"""Temporary folders go with their process, and nobody else's are touched."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sanderling.processes.scratch import Scratch, clear_up, scratch
from sanderling.server.run_folder import LINK, run_folder

HOLDS = "import sys\nfrom sanderling.processes.scratch import Scratch\nprint(Scratch('x').path, flush=True)\nsys.stdin.read()"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "tmp"
    made.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(made))
    monkeypatch.setenv("TMPDIR", str(made))
    return made


def test_what_a_killed_process_left_is_removed_by_the_next(place: Path) -> None:
    killed = subprocess.Popen([sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert killed.stdout is not None and killed.stdin is not None
    left = Path(killed.stdout.readline().strip())
    (left / "profile").mkdir()
    with scratch("y") as other:
        assert left.exists() and other.exists()  # it lives
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        with scratch("z") as mine:
            assert not left.exists() and other.exists() and mine.exists()
    assert not list(place.iterdir())


def test_what_others_put_there_is_left_alone(place: Path, tmp_path: Path) -> None:
    """No pipe is waited for, and no link is followed."""
    away = tmp_path / "precious"
    away.mkdir()
    (away / ".lock").touch()
    (place / "sanderling-x-link").symlink_to(away)
    for name, lock in (("pipe", os.mkfifo), ("linked", lambda path: path.symlink_to(away / ".lock")), ("bare", None)):
        folder = place / f"sanderling-x-{name}"
        folder.mkdir()
        if lock is not None:
            lock(folder / ".lock")
    (place / "sanderling-x-file").touch()
    if os.geteuid() == 0:  # that of another user
        theirs = place / "sanderling-x-theirs"
        theirs.mkdir()
        (theirs / ".lock").touch()
        os.chown(theirs, 65534, 65534)
    before = set(place.iterdir())
    clear_up(place)
    assert set(place.iterdir()) == before and (away / ".lock").exists()


def test_it_may_be_closed_twice(place: Path) -> None:
    made = Scratch("x")
    made.close()
    made.close()
    assert not made.path.exists()


def test_a_foreign_crawl_folder_removes_nothing(place: Path, tmp_path: Path) -> None:
    """The link of a folder that somebody else made may lead anywhere."""
    theirs = place / "sanderling-theirs"
    theirs.mkdir()
    (tmp_path / LINK).symlink_to(theirs / "socket")
    with run_folder(tmp_path) as made:
        assert (tmp_path / LINK).readlink() == made / "socket"
    assert theirs.exists() and not made.exists()
