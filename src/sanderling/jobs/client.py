"""The life of a client process: `python -m sanderling.jobs.client SOCKET`."""

import contextlib
import errno
import gc
import os
import signal
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sanderling.client.crawler import Crawler, own_name
from sanderling.client.line import ServerLine
from sanderling.client.reading import Fingerprinter, Portray, Reader
from sanderling.model import PROTOCOL, Hello
from sanderling.processes.crew import NO_ROOM
from sanderling.processes.descriptors import room_for_connections
from sanderling.processes.marker import Marker
from sanderling.repository import warc
from sanderling.settings import Settings

if TYPE_CHECKING:
    from sanderling.change.pixels import Decoder


class LazyDetector:
    """The change detector, loaded when it is needed: a first crawl has no use for it, and need not wait for it."""

    def __init__(self, settings: Settings) -> None:
        self._rules = settings.rules
        self._decoder: Decoder | None = None

    @cached_property
    def fingerprint(self) -> Fingerprinter:
        from sanderling.change.judging import fingerprinter

        return fingerprinter(self._rules)

    @cached_property
    def portray(self) -> Portray:
        from sanderling.change.judging import portraitist
        from sanderling.change.pixels import Decoder

        self._decoder = Decoder()
        return portraitist(self._decoder)

    def close(self) -> None:
        if self._decoder is not None:
            self._decoder.close()


def client(path: str) -> None:
    """Connects, is welcomed, crawls and leaves."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server is told and tells us
    gc.set_threshold(50_000, 20, 50)  # pages are trees without cycles; looking for some costs 5 % of the time
    name = own_name()
    with contextlib.suppress(ConnectionError):  # the server is gone: so are we
        line = ServerLine(path)
        welcome = line.introduce(Hello(PROTOCOL, name, os.getpid()))
        if welcome is None:
            return
        told = msgspec.json.decode(welcome.settings, type=Settings)
        settings = msgspec.structs.replace(told, connections=room_for_connections(told.connections))
        archive = warc.WarcWriter(Path(welcome.warc_folder), name)
        mark = Marker.open(Path(welcome.marker)).write
        with contextlib.closing(LazyDetector(settings)) as detector:
            Crawler(name, settings, line, Reader(settings, archive, mark, detector), archive).run()


if __name__ == "__main__":
    try:
        client(sys.argv[1])
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        os._exit(NO_ROOM)
    os._exit(0)  # all is written; the system takes memory back faster than the interpreter gives it
