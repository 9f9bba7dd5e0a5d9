"""The life of a client process: `python -m sanderling.jobs.client NAME SOCKET WARCS MARKER`."""

import errno
import os
import signal
import sys
from contextlib import closing, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sanderling import plugins
from sanderling.client.archive import Archive
from sanderling.client.contents import DescribeImage, Fingerprinter
from sanderling.client.crawler import Crawler
from sanderling.client.curl_fetcher import CurlFetcher
from sanderling.client.fetcher import Fetcher
from sanderling.client.line import ServerLine
from sanderling.client.loop import Loop
from sanderling.client.reading import Extract, Mark, Reader
from sanderling.client.socket_line import SocketLine
from sanderling.client.warc_writer import WarcWriter
from sanderling.clock import apart
from sanderling.documents.parser_choice import choose
from sanderling.model import PROTOCOL, Hello, Welcome
from sanderling.processes import garbage
from sanderling.processes.crew import NO_ROOM, UNWRITABLE
from sanderling.processes.descriptors import room_for_connections
from sanderling.processes.marker import Marker
from sanderling.processes.memory_limit import limit_memory
from sanderling.settings import Settings

if TYPE_CHECKING:
    from sanderling.browser.fetcher import RenderingFetcher
    from sanderling.change.pixels import Decoder
    from sanderling.client.cutting import Cutter
    from sanderling.client.sessions import Sessions
    from sanderling.topics.judging import Judge


class LazyDetector:
    """The change detector, loaded when it is needed. A first crawl does not need it and starts
    faster."""

    def __init__(self, settings: Settings) -> None:
        self._rules = settings.rules
        self._decoder: Decoder | None = None

    @cached_property
    def fingerprint(self) -> Fingerprinter:
        from sanderling.change.judging import fingerprinter

        return fingerprinter(self._rules)

    @cached_property
    def describe_image(self) -> DescribeImage:
        from sanderling.change.judging import image_describer
        from sanderling.change.pixels import Decoder

        self._decoder = Decoder()
        return image_describer(self._decoder)

    def close(self) -> None:
        if self._decoder is not None:
            self._decoder.close()


def local_client(name: str, socket: Path, warcs: Path, marker: Path) -> None:
    """Runs a client on the machine of its server. It writes into the folder of the crawl."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server gets it and tells us
    garbage.collect_rarely()
    # A connection error means that the server is gone. Then nothing may be written any more (see
    # `fencing`).
    with suppress(ConnectionError), closing(SocketLine(str(socket))) as line:
        welcome = line.introduce(Hello(PROTOCOL, name))
        if welcome is not None:
            smallest = msgspec.json.decode(welcome.settings, type=Settings).compression == "small"
            place, ahead = warcs / socket.parent.name, apart(welcome.now)
            archive = WarcWriter(warcs, name, place=place, clock_apart=ahead, smallest=smallest)
            crawl(name, welcome, line, archive, Marker(marker).write, warcs.parent)


def crawl(name: str, welcome: Welcome, line: ServerLine, archive: Archive, mark: Mark, folder: Path) -> None:
    """Crawls until the server says stop or is gone. Files that the settings name are looked for in
    `folder`."""
    limit_memory()
    told = msgspec.json.decode(welcome.settings, type=Settings)
    choose(told.html_parser)
    settings = msgspec.structs.replace(told, connections=room_for_connections(told.connections))
    with closing(LazyDetector(settings)) as detector, closing(Loop()) as loop:
        judge = topic_judge(welcome.topic)
        curl = CurlFetcher(settings, loop, cutter_for(settings, judge, mark))
        inner, sessions = logged_in(settings, user_fetchers(settings, folder, curl, loop), welcome.refused)
        renderer = renderer_for(settings, folder, loop, inner, archive)
        reader = Reader(settings, archive, mark, detector, user_extractors(settings, folder), judge)
        with closing(renderer or inner) as fetcher:
            Crawler(name, settings, line, loop, fetcher, reader, archive, renderer, sessions).run()


def user_fetchers(settings: Settings, folder: Path, fetcher: Fetcher, loop: Loop) -> Fetcher:
    """The user's own fetchers around ours, if there are any: each is a function of the one inside,
    the settings and the loop."""
    for each in plugins.load(plugins.FETCHERS, settings.fetchers, folder):
        fetcher = each.value(fetcher, settings, loop)
    return fetcher


def logged_in(settings: Settings, fetcher: Fetcher, refused: dict[str, str]) -> "tuple[Fetcher, Sessions]":
    """A fetcher with the sessions of the user, if there are any."""
    if not settings.login:
        return fetcher, {}
    from sanderling.client.session_fetcher import SessionFetcher
    from sanderling.client.sessions import sessions_of

    sessions = sessions_of(settings, refused)
    return SessionFetcher(fetcher, sessions), sessions


def renderer_for(
    settings: Settings, folder: Path, loop: Loop, fetcher: Fetcher, archive: Archive
) -> "RenderingFetcher | None":
    """What renders pages, if they are to be rendered. It is loaded then only."""
    if settings.render == "never":
        return None
    from sanderling.browser.finding import find

    program = find(settings.browser)
    if program is None:
        return None
    from sanderling.browser.fetcher import RenderingFetcher

    return RenderingFetcher(program, settings, folder, loop, fetcher, archive)


def cutter_for(settings: Settings, judge: "Judge | None", mark: Mark) -> "Cutter | None":
    """What cuts pages short that are not on the topic, if they are to be."""
    if judge is None or not settings.cut_short:
        return None
    from sanderling.client.cutting import Cutter

    return Cutter(judge, settings.relatedness, mark)


def user_extractors(settings: Settings, folder: Path) -> Extract | None:
    """The user's extractors, if there are any, as one function."""
    if not settings.extractors:
        return None
    from sanderling.documents import extracting

    return partial(extracting.extract, extracting.load(settings.extractors, folder))


def topic_judge(weights: bytes) -> "Judge | None":
    """What tells how well pages fit the topic of the crawl, if it has one."""
    if not weights:
        return None
    from sanderling.topics.judging import judge_by

    return judge_by(weights)


if __name__ == "__main__":
    try:
        local_client(sys.argv[1], *map(Path, sys.argv[2:]))
    except OSError as error:
        if error.errno in (errno.EIO, errno.EROFS):
            os._exit(UNWRITABLE)
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        os._exit(NO_ROOM)
    os._exit(0)  # all is written; the system frees memory faster than the interpreter
