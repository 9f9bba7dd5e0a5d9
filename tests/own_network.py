"""Runs a script of the tests in a network of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def seen_by(script: str, folder: Path) -> Any:
    """What a module of the tests prints as JSON. Skips the test where no network may be made."""
    if subprocess.run(["unshare", "-mn", "true"], capture_output=True).returncode:
        pytest.skip("this user may not make a network namespace")
    command = ["unshare", "-mn", sys.executable, "-m", script, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
