"""What a relay has to say to its parent: kept on its disk until it is said.

While the line upward is away the parent takes nothing, and reports wait here. If the relay dies,
its machine says what is left, in the same order.
"""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue

from sanderling.files import write_whole


class Outbox:
    """A thread says one message after the other, because the other side may make it wait for
    long."""

    def __init__(self, folder: Path, say: Callable[[bytes], None]) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._say = say
        self._number = 0
        self._queue: SimpleQueue[Path | bytes | None] = SimpleQueue()
        self.broken = False  # the parent is gone
        self._thread = threading.Thread(target=self._run, name="outbox", daemon=True)
        self._thread.start()

    @property
    def idle(self) -> bool:
        return self._queue.empty()

    def keep(self, frame: bytes) -> None:
        """Takes a message that must not be lost."""
        self._number += 1
        path = self._folder / f"{self._number:09d}"
        write_whole(path, frame, sync=False)  # the process may be killed; the disk of a dead machine is of no use
        self._queue.put(path)

    def mention(self, frame: bytes) -> None:
        """Takes a message that is of use only now."""
        self._queue.put(frame)

    def close(self, patience: float) -> bool:
        """Waits until all is said; False when that takes too long."""
        self._queue.put(None)
        self._thread.join(patience)
        return not self._thread.is_alive() and not self.broken

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            try:
                self._say(item if isinstance(item, bytes) else item.read_bytes())
            except OSError:
                self.broken = True
                return
            if isinstance(item, Path):
                item.unlink()


def left_in(folder: Path) -> Iterator[bytes]:
    """What a dead relay did not say."""
    for path in sorted(folder.glob("?????????")):
        yield path.read_bytes()
