"""The field trial ends what it started."""

import contextlib
import sys
import time
from pathlib import Path

from bench.field.application import Site, spawn, stop

# A parent with a child that ignores SIGTERM, as a worker does that is busy.
PARENT = """
import os, signal, time
child = os.fork()
if not child:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    open("child", "w").write(str(os.getpid()))
time.sleep(600)
"""


def test_children_do_not_outlive_an_application(tmp_path: Path) -> None:
    process = spawn(Site(tmp_path, 0), sys.executable, "-c", PARENT)
    deadline = time.monotonic() + 60
    while not ((told := tmp_path / "child").exists() and told.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    stop([process])
    while _lives(int(told.read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _lives(child: int) -> bool:
    """A child without a parent may stay as a zombie."""
    with contextlib.suppress(FileNotFoundError):
        return Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
