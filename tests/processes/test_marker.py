"""The page that a client was parsing is known after its death."""

import subprocess
import sys
from pathlib import Path

from sanderling.processes.marker import Marker, marked, marker_path

DIES = """
import os, sys
from pathlib import Path
from sanderling.processes.marker import Marker

Marker(Path(sys.argv[1])).write(-42)
os.kill(os.getpid(), 9)
"""


def test_what_was_marked_is_read_after_a_kill(tmp_path: Path) -> None:
    place = marker_path(tmp_path, "one")
    assert subprocess.run([sys.executable, "-c", DIES, place], check=False).returncode == -9
    assert marked(place) == -42


def test_a_client_without_a_marker_was_parsing_nothing(tmp_path: Path) -> None:
    assert marked(marker_path(tmp_path, "elsewhere")) == 0
    Marker(place := marker_path(tmp_path, "idle"))
    assert marked(place) == 0
