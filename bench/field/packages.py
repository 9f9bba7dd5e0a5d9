"""Packages of PyPI, each application in its own environment, so that none disturbs another."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from bench.field.application import FIELD
from bench.places import BenchError, say


def python_with(name: str, *packages: str) -> Path:
    """The interpreter of the environment called `name`, which is made if it lacks a package."""
    folder = FIELD / "environments" / name
    python, made = folder / "bin" / "python", folder / "made"
    wanted = "\n".join(packages)
    if made.exists() and made.read_text() == wanted:
        return python
    say(f"Installing {', '.join(packages)} (once) ...")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as error:
        raise BenchError(f"pip could not install {', '.join(packages)}: {error}") from error
    made.write_text(wanted)
    return python
