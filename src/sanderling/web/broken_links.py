"""The broken links of crawls. Each list is made in a process of its own, because it reads all
pages, and kept until the crawl has visited more."""

import subprocess
import threading
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

from sanderling.presenting.broken import BrokenLink
from sanderling.processes import entry_points
from sanderling.repository.folder import Folder, last_written

_LONGEST_WORK = 1800.0


class BrokenList(NamedTuple):
    """The last list and the time when it was made, or the reason why there is none."""

    at: float = 0.0
    links: list[BrokenLink] | None = None
    problem: str = ""
    busy: bool = False
    external: bool = False  # links that lead out of the crawl were asked, too


class BrokenLists:
    """Runs at most one process for each crawl. It is thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: dict[Path, BrokenList] = {}
        self._busy: set[Path] = set()

    def of(self, folder: Folder, external: bool = False) -> BrokenList:
        """Returns the last list at once. If it is old or missing, starts to make a new one."""
        with self._guard:
            known = self._known.get(folder.path, BrokenList())
            outdated = known.at < last_written(folder) or (external and not known.external)
            if outdated and folder.path not in self._busy:
                self._busy.add(folder.path)
                asked = external or known.external
                threading.Thread(target=self._work, args=(folder.path, asked), daemon=True).start()
            return known._replace(busy=folder.path in self._busy)

    def wait(self, folder: Folder, seconds: float) -> BrokenList:
        """The list, after some waiting for one that is being made."""
        deadline = time.monotonic() + seconds
        while (found := self.of(folder)).busy and found.links is None and time.monotonic() < deadline:
            time.sleep(0.1)
        return found

    def _work(self, path: Path, external: bool) -> None:
        begun = time.time()
        found: list[BrokenLink] | None = None
        try:
            command = ["broken", str(path), "--json", *["--external"] * external]
            ran = subprocess.run(
                entry_points.command("command", *command), stdin=subprocess.DEVNULL, capture_output=True,
                timeout=_LONGEST_WORK,
            )  # fmt: skip
            problem = ran.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2].removeprefix("sanderling: ")
            if ran.returncode in (0, 1):
                found = [msgspec.json.decode(line, type=BrokenLink) for line in ran.stdout.splitlines()]
        except (subprocess.TimeoutExpired, msgspec.MsgspecError, OSError) as error:
            problem = str(error)
        with self._guard:
            self._known[path] = BrokenList(begun, found, "" if found is not None else problem, external=external)
            self._busy.discard(path)
