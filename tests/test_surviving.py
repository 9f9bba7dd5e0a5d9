"""A run of the tests ends and leaves no process behind, whatever dies in it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE, until

HOOKS = """
from tests.unsteady import pytest_configure, pytest_xdist_make_scheduler
"""

# Daemons, as PostgreSQL and Ray start them: in a session of their own, without their parent.
TESTS = """
import os, pathlib, subprocess, time
import pytest

HERE = pathlib.Path(__file__).parent

@pytest.mark.parametrize("number", range(4))
def test_number(number):
    if number == 1:
        code = "import os, sys, time; print(os.getpid(), file=open(sys.argv[1], 'w'), flush=True); time.sleep(1000)"
        name = HERE / f"{pathlib.Path(__file__).stem}.daemon"
        subprocess.Popen(["setsid", "-f", "python3", "-c", code, name])
        while not name.exists() or not name.read_text():
            time.sleep(0.02)
    if number == 2:
        (HERE / "reached").touch()
        ACTION
"""


def begun(folder: Path, action: str) -> "subprocess.Popen[str]":
    (folder / "conftest.py").write_text(HOOKS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_one.py").write_text(TESTS.replace("ACTION", action))
    (folder / "test_two.py").write_text(TESTS.replace("ACTION", "pass"))
    words = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", "-p", "xdist.plugin"]
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    surroundings["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # they take seconds to import
    return subprocess.Popen(
        words, cwd=folder, env={**surroundings, "PYTHONPATH": paths}, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip


UNSTEADY = """
import pathlib

def test_that_fails_once():
    here = pathlib.Path(__file__).with_suffix(".ran")
    first = not here.exists()
    here.touch()
    assert not first

def test_that_passes():
    pass
"""


def nothing_is_left(folder: Path) -> bool:
    daemons = list(folder.glob("*.daemon"))
    assert daemons
    return not any(Path(f"/proc/{each.read_text().strip()}").exists() for each in daemons)


def test_a_test_that_kills_its_worker_fails_and_the_others_run(tmp_path: Path) -> None:
    """It fails alone, too. Another one that passes alone is reported, and does not count as
    failed."""
    (tmp_path / "test_unsteady.py").write_text(UNSTEADY)
    with begun(tmp_path, "os._exit(9)") as run:
        said, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 1, said
    assert "1 failed, 8 passed, 1 unsteady" in said and "UNSTEADY test_unsteady.py::test_that_fails_once" in said, said
    assert "assert not first" in said and "crashed while running 'test_one.py::test_number[2]'" in said, said
    until(lambda: nothing_is_left(tmp_path))


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing(tmp_path: Path, sent: signal.Signals) -> None:
    with begun(tmp_path, "time.sleep(1000)") as run:
        until(lambda: (tmp_path / "reached").exists())
        run.send_signal(sent)
        said, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode != 0, said
    until(lambda: nothing_is_left(tmp_path))


def test_a_run_whose_failures_pass_alone_succeeds_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "test_unsteady.py").write_text(UNSTEADY)
    with begun(tmp_path, "pass") as run:
        said, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, said
    assert "unsteady: failed beside others, passed alone" in said and "9 passed, 1 unsteady" in said, said
    assert "FAILED" not in said
