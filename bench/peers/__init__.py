"""The other crawlers: a command for each, and how to count the HTML pages it fetched."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Outcome
from bench.places import CACHE, BenchError, need_debian, say

HERE = Path(__file__).parent
ENVIRONMENT = CACHE / "peers"
CONNECTIONS = 32


@dataclass(frozen=True)
class Peer:
    """`command` takes the start URL, an empty working folder and a limit of pages (0 means no
    limit)."""

    name: str
    command: Callable[[str, Path, int], list[str]]
    pages: Callable[[Outcome, Path], int]
    # wget2 exits with 8 if any page answered an error. Some links of the documentation are broken.
    accepted_exits: tuple[int, ...] = (0,)
    ours: bool = False


def peers() -> list[Peer]:
    need_debian("wget2")
    need_environment()
    return [
        Peer("scrapy", _python("scrapy_peer.py"), _reported),
        Peer("crawlee", _python("crawlee_peer.py"), _reported),
        Peer("wget2", _wget2, _saved, accepted_exits=(0, 8)),
    ]


def _python(script: str) -> Callable[[str, Path, int], list[str]]:
    def command(url: str, folder: Path, limit: int) -> list[str]:
        run = [str(ENVIRONMENT / "bin" / "python"), str(HERE / script), url]
        return [*run, str(limit)] if limit else run

    return command


def _wget2(url: str, folder: Path, limit: int) -> list[str]:
    # It has no limit of pages, but needs only seconds.
    options = ["--recursive", "--level=inf", "--no-robots", "--quiet", "--progress=none", "--tries=1"]
    return ["wget2", *options, f"--max-threads={CONNECTIONS}", f"--directory-prefix={folder}", url]


def _reported(outcome: Outcome, folder: Path) -> int:
    return int(str(outcome.last_json()["pages"]))


def _saved(outcome: Outcome, folder: Path) -> int:
    return sum(1 for _ in folder.rglob("*.html"))


def need_environment() -> None:
    """Peers have an environment of their own, so that their dependencies do not mix with the
    crawler's."""
    requirements = HERE / "requirements.txt"
    stamp = ENVIRONMENT / f"installed-{hashlib.sha256(requirements.read_bytes()).hexdigest()[:16]}"
    if stamp.exists():
        return
    say("Installing Scrapy and Crawlee into an environment of their own (once) ...")
    pip = [
        str(ENVIRONMENT / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)], check=True)
        subprocess.run([*pip, "-r", str(requirements)], check=True)
    except subprocess.CalledProcessError as error:
        raise BenchError(f"The peers could not be installed: {error}") from error
    stamp.touch()
