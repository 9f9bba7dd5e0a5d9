"""A process beside the crawl: it starts when needed, ends on request, never outlives the crawl, and
its failure is reported."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sanderling.processes import companion
from sanderling.processes.companion import Companion
from tests.waiting import PATIENCE, until

PATIENT = "import sys, pathlib; pathlib.Path(sys.argv[1]).touch(); sys.stdin.read(); pathlib.Path(sys.argv[1]).unlink()"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(companion, "FIRST_AFTER", 0.0)


def test_it_comes_and_goes(tmp_path: Path) -> None:
    note = tmp_path / "here"
    beside = Companion([sys.executable, "-c", PATIENT, str(note)], wanted=True)
    assert beside.step() == ""
    until(note.exists)
    assert beside.step() == ""
    beside.dismiss()
    until(lambda: not note.exists())
    beside.close()
    assert beside.step() == ""
    assert not note.exists()


def test_it_is_not_waited_for(tmp_path: Path) -> None:
    beside = Companion([sys.executable, "-c", "import time; time.sleep(600)"], wanted=True)
    began = time.monotonic()
    beside.step()
    beside.dismiss()
    beside.close()
    assert time.monotonic() - began < PATIENCE  # it would take ten minutes


def test_it_is_left_out(tmp_path: Path) -> None:
    beside = Companion(["/does/not/exist"], wanted=False)
    assert beside.step() == ""
    beside.close()


def test_its_failure_is_told_once() -> None:
    beside = Companion(
        [sys.executable, "-c", "import sys; sys.stderr.write('first\\nit is broken\\n'); sys.exit(1)"], wanted=True
    )
    said: list[str] = []
    until(lambda: said.append(beside.step()) or any(said))
    assert [each for each in said if each] == ["it is broken"]
    assert beside.step() == ""  # not started again at once
    beside.close()


def test_it_ends_with_whoever_started_it(tmp_path: Path) -> None:
    note = tmp_path / "here"
    script = (
        "import sys, time\n"
        "from sanderling.processes import companion\n"
        "companion.FIRST_AFTER = 0.0\n"
        "companion.Companion([sys.executable, '-c', *sys.argv[1:]], wanted=True).step()\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, PATIENT, str(note)]) as starter:
        until(note.exists)
        os.kill(starter.pid, 9)
    until(lambda: not note.exists())
    assert not note.exists()
