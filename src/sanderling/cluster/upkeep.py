"""Looks after the processes of a node of Ray.

Ray itself ends a node without a word when one of its processes dies. Here the process of the head
is started again, with its state, and the user is told. The state is in a folder, so that the whole
command can be restarted, too. Other machines and crawls wait for the head meanwhile.
"""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sanderling.cluster.engine import HEAD_WAIT, answers
from sanderling.errors import RunFailed

_HEAD, _NODE = "gcs_server", "raylet"  # Ray's names of the processes that matter
# A head that dies more often than this cannot be helped.
_MOST_DEATHS, _WITHIN = 3, 60.0


class LeftCluster(RunFailed):
    """The head has given this machine up, and can be reached again."""


class HeadState:
    """What the head knows, on the disk."""

    def __init__(self, folder: Path, longest: float) -> None:
        """A state is of use for `longest` seconds: then the head is not waited for any more."""
        self._folder = folder
        self._seen = folder / "seen"  # its time says when the head ran last, by the clock of this machine
        if not self._is_of_use(longest):
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    @property
    def environment(self) -> dict[str, str]:
        return {"RAY_gcs_storage": "rocksdb", "RAY_gcs_storage_path": str(self._folder)}

    def note_running(self) -> None:
        self._seen.touch()

    def _is_of_use(self, longest: float) -> bool:
        try:
            return abs(time.time() - self._seen.stat().st_mtime) < longest
        except OSError:
            return False


class Upkeep:
    """Takes the place of Ray's own look at the processes of a node, once a second."""

    def __init__(self, address: str, state: HeadState | None, say: Callable[[str], None]) -> None:
        """`address` is that of the head; `state` is given where the head is."""
        self._address = address
        self._state = state
        self._say = say
        self._deaths: list[float] = []
        self._died = ""  # how the head died that was started again and does not answer yet

    def look(self, node: Any) -> list[Any]:
        """Starts the head again if it died. Raises RunFailed when the node cannot go on."""
        if self._state is not None:
            self._state.note_running()
            if (code := _code(node, _HEAD)) is not None:
                self._revive(node, code)
            elif self._died and answers(self._address):
                self._say(f"the head of the cluster {self._died}, and was started again\n")
                self._died = ""
        if (code := _code(node, _NODE)) is not None:
            self._leave(node, code)
        return []

    def _leave(self, node: Any, code: int) -> None:
        if not answers(self._address):
            why = f"its head at {self._address} does not answer"
        elif code > 0 or code == -6:  # it ends itself
            node.kill_all_processes(check_alive=False)
            raise LeftCluster("this machine was out of reach for longer than --outage, or its node failed")
        else:
            why = f"its node {_died(code)}"
        raise RunFailed(f"this machine left the cluster: {why}; run the command again to return")

    def _revive(self, node: Any, code: int) -> None:
        now = time.monotonic()
        self._deaths = [*(each for each in self._deaths if each > now - _WITHIN), now]
        if len(self._deaths) > _MOST_DEATHS:
            raise RunFailed(
                f"the head of the cluster {_died(code)}, and {_MOST_DEATHS} times before within {_WITHIN:.0f} s; its log is "
                f"in {node.get_logs_dir_path()}"
            )
        del node.all_processes[_HEAD]
        node._gcs_address = node._gcs_client = None  # otherwise Ray believes that it runs
        node.start_gcs_server()
        self._died = _died(code)


def wait_for_head(outage: float) -> float:
    """How many seconds a node waits for its head."""
    return max(HEAD_WAIT, outage)


def _code(node: Any, kind: str) -> int | None:
    for each in node.all_processes.get(kind, ()):
        if (code := each.process.poll()) is not None:
            return int(code)
    return None


def _died(code: int) -> str:
    return f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
