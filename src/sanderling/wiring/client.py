"""The life of a client process: `python -m sanderling.wiring.client SOCKET`."""

import contextlib
import gc
import os
import resource
import signal
import sys
from pathlib import Path

import msgspec

from sanderling.change.pixels import Decoder
from sanderling.client.crawler import Crawler, own_name
from sanderling.client.line import ServerLine
from sanderling.client.reading import Reader
from sanderling.judging import fingerprinter, portraitist
from sanderling.model import PROTOCOL, Hello
from sanderling.repository import warc
from sanderling.server.marker import Marker
from sanderling.settings import Settings


def client(path: str) -> None:
    """Connects, is welcomed, crawls and leaves."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server is told and tells us
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 16384)), hard))
    gc.set_threshold(50_000, 20, 50)  # pages are trees without cycles; looking for some costs 5 % of the time
    line = ServerLine(path)
    name = own_name()
    welcome = line.introduce(Hello(PROTOCOL, name, os.getpid()))
    if welcome is None:
        return
    settings = msgspec.json.decode(welcome.settings, type=Settings)
    archive = warc.WarcWriter(Path(welcome.warc_folder), name)
    mark = Marker.open(Path(welcome.marker)).write
    with (
        Decoder() as decoder,
        contextlib.suppress(BrokenPipeError, ConnectionResetError),
    ):  # the server is gone: so are we
        reader = Reader(settings, archive, mark, fingerprinter(settings.rules), portraitist(decoder))
        Crawler(name, settings, line, reader, archive).run()


if __name__ == "__main__":
    client(sys.argv[1])
