"""A Unix socket that passes everything on to another one, later: messages between machines take
time."""

import contextlib
import socket
import threading
import time
from pathlib import Path
from queue import SimpleQueue


class DelayedSocket:
    """Listens at `path`, and passes connections on to `target`. Every byte takes `delay` seconds,
    in both directions."""

    def __init__(self, path: Path, target: Path, delay: float) -> None:
        self._target = target
        self._delay = delay
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """No more connections are taken. Those that are there end with their ends."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                threading.Thread(target=self._pass_on, args=(here,), daemon=True).start()

    def _pass_on(self, here: socket.socket) -> None:
        """Serves one connection until both ends have ended it."""
        with here, socket.socket(socket.AF_UNIX) as there, contextlib.suppress(OSError):
            there.connect(str(self._target))
            threads = []
            for source, into in ((here, there), (there, here)):
                waiting: SimpleQueue[tuple[float, bytes]] = SimpleQueue()
                threads.append(threading.Thread(target=self._read, args=(source, waiting), daemon=True))
                threads.append(threading.Thread(target=_write, args=(into, waiting), daemon=True))
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def _read(self, source: socket.socket, waiting: "SimpleQueue[tuple[float, bytes]]") -> None:
        data = b"-"
        while data:
            try:
                data = source.recv(1 << 16)
            except OSError:
                data = b""
            waiting.put((time.monotonic() + self._delay, data))


def _write(into: socket.socket, waiting: "SimpleQueue[tuple[float, bytes]]") -> None:
    with contextlib.suppress(OSError):
        while True:
            due, data = waiting.get()
            time.sleep(max(0.0, due - time.monotonic()))
            if not data:
                into.shutdown(socket.SHUT_WR)
                return
            into.sendall(data)
