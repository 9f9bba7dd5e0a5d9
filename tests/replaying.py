"""pywb, which replays archives of ours. It has an environment of its own (`.venv/replay`)."""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import until

PYWB = Path(sys.prefix, "replay", "bin")


def collection(folder: Path, sanderling: Callable[..., object]) -> Path:
    """A folder of pywb with the archives of a crawl and our index of them, beside the crawl."""
    place = folder.parent
    (place / "collections" / "all" / "indexes").mkdir(parents=True)
    (place / "collections" / "all" / "archive").symlink_to(folder / "warc")
    sanderling("export", folder, "--format", "cdxj", "-o", index_of(place))
    return place


def index_of(place: Path, name: str = "all") -> Path:
    return place / "collections" / name / "indexes" / "index.cdxj"


@contextmanager
def pywb(place: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = (place / "pywb.log").open("wb")
    command = [PYWB / "wayback", "-b", "127.0.0.1", "-p", str(port), "-d", place, "-t", "2"]
    with log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            until(lambda: process.poll() is not None or answers(port))
            assert process.poll() is None, (place / "pywb.log").read_text()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
