"""The folders of the bench, and the installation of missing packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
CACHE = REPOSITORY / "bench" / ".cache"
RESULTS = REPOSITORY / "bench" / "results"
SANDERLING = Path(sys.executable).parent / "sanderling"


# Crawls are written to memory if possible. On a disk, the 14,700 small files of wget2 cost between
# 1.5 and 11 s of system time, so that the race would compare file systems.
IN_MEMORY = Path("/dev/shm")
ROOM_NEEDED = 2 * 1024**3


class BenchError(Exception):
    """An error that the user of the bench can fix. Its text is the whole message."""


def say(text: str) -> None:
    """Writes progress to standard error. Standard output is for results only."""
    print(text, file=sys.stderr, flush=True)


def working_folder() -> str | None:
    """The folder where crawlers write. None means the default folder for temporary files."""
    roomy = IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free >= ROOM_NEEDED
    return str(IN_MEMORY) if roomy and os.access(IN_MEMORY, os.W_OK) else None


def need_debian(*packages: str) -> None:
    """Installs those of `packages` that are missing."""
    missing = [package for package in packages if version_of(package) is None]
    if not missing:
        return
    wanted = " ".join(missing)
    if os.geteuid() != 0:
        raise BenchError(f"The bench needs Debian packages this machine lacks; install them: apt-get install {wanted}")
    say(f"Installing {wanted} ...")
    quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdout": subprocess.DEVNULL}
    try:
        subprocess.run(["apt-get", "update", "-qq"], check=True, **quiet)  # type: ignore[call-overload]
        waiting = ["-o", "DPkg::Lock::Timeout=300"]  # another installation may be under way
        install = ["apt-get", *waiting, "install", "-y", "-qq", "--no-install-recommends", *missing]
        subprocess.run(install, check=True, **quiet)  # type: ignore[call-overload]
    except (OSError, subprocess.CalledProcessError) as error:
        raise BenchError(f"apt-get could not install {wanted}: {error}") from error


def version_of(package: str) -> str | None:
    """The installed version of a Debian package."""
    query = ["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Version}", package]
    try:
        answer = subprocess.run(query, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise BenchError("The bench runs on Debian or a relative of it: dpkg-query is missing.") from error
    status, _, version = answer.stdout.partition(" ")
    return version if status == "installed" else None


def files_of(package: str) -> list[str]:
    return subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=True).stdout.splitlines()
