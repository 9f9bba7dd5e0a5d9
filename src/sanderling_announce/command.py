"""`sanderling announce`: says which pages of a site are new, changed or gone."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sqlite3
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn, Optional

from sanderling_announce import __version__, clock
from sanderling_announce.announcer import Announcer
from sanderling_announce.assembly import SiteOptions, assemble, state_folder
from sanderling_announce.errors import CannotAnnounce, WrongUse, quoted
from sanderling_announce.flag import LONGEST
from sanderling_announce.pages import TYPES, site_of
from sanderling_announce.places import MANIFEST, robots_lines
from sanderling_announce.pushing import INDEXNOW, PushAddress
from sanderling_announce.quiet import quiet_of
from sanderling_announce.tools import PLAIN, Tools

if TYPE_CHECKING:
    from sanderling_announce.report_server import ReportServer

# The token of the announcer's own server.
SHORTEST_TOKEN = 16
TOKEN_VARIABLE = "SANDERLING_TOKEN"
_UNITS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(ms|s|m|h|d|)")

ABOUT = """Watches the pages of a site and publishes which of them are new, changed or gone, so that crawlers visit just these.

FOLDER is what the web server serves. The report is written to FOLDER/.well-known/sanderling/, as static files: a sitemap
with exact dates, lists of changes, and a signed manifest. Nothing else in FOLDER is changed, and no port is opened. A
change is a change of content. Hidden files and temporary files of editors are not pages.

Run it as a service. You can stop it at any time; the next start continues where it was. With --once it ends after one
scan, as a step of a build.

Examples:
  sanderling announce /srv/www --site https://example.org/
  sanderling announce public --site https://example.org/ --once --push indexnow
  sanderling announce /srv/www --site https://example.org/ --map '**.html=**'
  sanderling announce /srv/a /srv/b --site https://a.example/ \\
    --site https://b.example/
  sanderling announce /srv/www --site https://example.org/ --database shop.db \\
    --sql 'SELECT url, updated FROM pages'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="+", type=_path, metavar="FOLDER", help="what the web server serves")
    parser.add_argument(
        "--site", action="append", required=True, metavar="URL", help="the site's URL, one for each FOLDER"
    )
    parser.add_argument(
        "--report",
        type=_path,
        metavar="DIR",
        help="where to write the report (default: FOLDER/.well-known/sanderling)",
    )
    parser.add_argument(
        "--report-url", default="", metavar="URL", help="where the report is on the web, if DIR is not below FOLDER"
    )
    parser.add_argument(
        "--state",
        type=_path,
        metavar="DIR",
        help="what to remember, never public (default: ~/.local/state/sanderling/announce)",
    )
    parser.add_argument("--once", action="store_true", help="scan, publish, tell and end")
    _add_pages(parser)
    _add_sources(parser)
    _add_quiet_times(parser)
    _add_receivers(parser)
    _add_server(parser)


def _add_pages(parser: argparse.ArgumentParser) -> None:
    pages = parser.add_argument_group("pages")
    pages.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="PATTERN=URL",
        help="the URL of files: * is a part of a name, ** any path; '-' for no page (repeatable)",
    )
    pages.add_argument(
        "--linked-only",
        action="store_true",
        help="list only pages that links lead to from the main page, and so no drafts",
    )
    pages.add_argument(
        "--types",
        default="",
        metavar="LIST",
        help=f"endings of files that are pages, or 'all' (default: {b','.join(TYPES).decode()})",
    )
    pages.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="PATTERN",
        help="text that does not count as content, such as the time of a build (repeatable)",
    )
    pages.add_argument(
        "--gone-after",
        default="10s",
        metavar="TIME",
        help="how long a page has to be missing to be gone (default: 10s)",
    )


def _add_sources(parser: argparse.ArgumentParser) -> None:
    source = parser.add_argument_group("other sources than files").add_mutually_exclusive_group()
    source.add_argument("--command", default="", help="a shell command that lists pages: a line each, URL and version")
    source.add_argument(
        "--sql", default="", metavar="QUERY", help="a query that gives URL and version; needs --database"
    )
    source.add_argument(
        "--git",
        nargs="?",
        const="HEAD",
        default="",
        metavar="BRANCH",
        help="FOLDER is a git repository: the files of a branch (default: HEAD)",
    )
    parser.add_argument("--database", default="", metavar="DB", help="an SQLite file, or postgresql://...")
    parser.add_argument(
        "--every", default="10s", metavar="TIME", help="how often to scan without events, or to list (default: 10s)"
    )
    parser.add_argument(
        "--no-events", action="store_true", help="scan again and again instead of using events of the file system"
    )


def _add_quiet_times(parser: argparse.ArgumentParser) -> None:
    spare = parser.add_argument_group("sparing the machine (watching goes on; ranking and sitemap rest)")
    spare.add_argument(
        "--quiet", action="append", default=[], metavar="HH:MM-HH:MM", help="rest at these times (repeatable)"
    )
    spare.add_argument(
        "--quiet-when", action="append", default=[], metavar="CONDITION", help="rest while this holds, such as 'load>2'"
    )


def _add_receivers(parser: argparse.ArgumentParser) -> None:
    tell = parser.add_argument_group("telling others at once")
    tell.add_argument(
        "--push",
        action="append",
        default=[],
        metavar="URL",
        help="an IndexNow address, such as http://localhost:8080/indexnow; 'indexnow' for all engines (repeatable)",
    )
    tell.add_argument(
        "--websub",
        action="append",
        default=[],
        metavar="HUB",
        help="a WebSub hub to ping when a feed changed (repeatable)",
    )
    tell.add_argument("--feed", action="append", default=[], metavar="URL", help="a feed of the site (repeatable)")


def _add_server(parser: argparse.ArgumentParser) -> None:
    own = parser.add_argument_group("own server")
    own.add_argument(
        "--listen",
        default="",
        metavar="[HOST:]PORT",
        help="serve the report, and let crawlers take the site with POST /begin",
    )
    own.add_argument(
        "--token-file",
        type=_path,
        metavar="FILE",
        help=f"a file with the token for /begin (or the variable {TOKEN_VARIABLE})",
    )
    own.add_argument(
        "--longest-taken",
        default=f"{LONGEST:.0f}s",
        metavar="TIME",
        help="how long a crawler may keep the site (default: 1h)",
    )
    own.add_argument(
        "--reset",
        choices=("time", "change"),
        help="when a site that was taken is free again: after the time, or also when a page changes (default: as the crawler asks)",
    )


def run(options: argparse.Namespace, tools: Tools = PLAIN) -> int:
    sites = [_site(options, folder, site, tools) for folder, site in _pairs(options, tools)]
    wake = threading.Event()
    signals = _heed_signals(wake)
    announcers: list[Announcer] = []
    server = None
    try:
        for site in sites:
            announcers.append(assemble(site, _say, wake.set, tools))
            announcers[-1].at_once = options.once
            _greet(announcers[-1], site)
        server = _serve(options, announcers)
        _loop(announcers, wake, signals, options.once)
        for announcer in announcers:
            announcer.finish()
    except sqlite3.OperationalError as error:
        raise CannotAnnounce(f"what the announcer knows cannot be written: {error}") from None
    finally:
        if server:
            server.close()
        for announcer in announcers:
            announcer.close()
    return 0 if not signals or signals[0] == signal.SIGTERM else 128 + signals[0]


def _loop(announcers: list[Announcer], wake: threading.Event, signals: list[int], once: bool) -> None:
    complete = {each.site for each in announcers if each.source.complete}
    said, so_far = time.monotonic(), 0
    while not signals:
        wake.clear()
        due = min(announcer.step(clock.now()) for announcer in announcers)
        for announcer in announcers:
            if once and announcer.source.trouble:
                raise CannotAnnounce(f"{announcer.site}: nothing was announced")
            if announcer.source.complete and announcer.site not in complete:
                complete.add(announcer.site)
                _say(
                    f"{announcer.site}: {_many(len(announcer.memory), 'page')} found; changes are announced from now on"
                )
            elif len(announcer.memory) > so_far and not announcer.source.complete and time.monotonic() - said > 5:
                said, so_far = time.monotonic(), len(announcer.memory)
                _say(f"{announcer.site}: {_many(len(announcer.memory), 'page')} so far")
        if once and all(announcer.idle for announcer in announcers):
            return
        wake.wait(max(0.0, min(due - clock.now(), 1.0 if once else 3600.0)))


def _heed_signals(wake: threading.Event) -> list[int]:
    """The first signal ends after the step; the second at once, which loses nothing either."""
    signals: list[int] = []

    def handle(number: int, _: FrameType | None) -> None:
        if signals:
            raise KeyboardInterrupt
        signals.append(number)
        wake.set()

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, handle)
    return signals


def _pairs(options: argparse.Namespace, tools: Tools) -> list[tuple[Path, str]]:
    if len(options.folder) != len(options.site):
        raise WrongUse(
            f"there are {_many(len(options.folder), 'folder')} and {_many(len(options.site), 'site')}; each folder needs its --site"
        )
    sites = [site_of(text, tools) for text in options.site]
    if len(set(sites)) < len(sites):
        raise WrongUse("two folders have the same --site")
    if len(sites) > 1 and (options.report or options.listen or options.git or options.command or options.sql):
        raise WrongUse(
            "with several sites there is no --report, --listen, --git, --command and --sql; run a process for each"
        )
    for folder in options.folder:
        if not folder.is_dir():
            raise WrongUse(f"{quoted(str(folder))} is not a folder")
    return list(zip(options.folder, sites))


def _site(options: argparse.Namespace, folder: Path, site: str, tools: Tools) -> SiteOptions:
    if bool(options.sql) != bool(options.database):
        raise WrongUse("--sql and --database belong together")
    if options.linked_only and (options.command or options.sql or options.git):
        raise WrongUse("--linked-only follows the links of files, so it goes without --command, --sql and --git")
    if options.websub and not options.feed:
        raise WrongUse("--websub needs --feed: which feed is the hub to be told of?")
    feeds = [tools.canonical(text) or "" for text in options.feed]
    for text, feed in zip(options.feed, feeds):
        if not feed.startswith(site):
            raise WrongUse(f"the feed {quoted(text)} is not below {site}")
    state = state_folder(options.state, site)
    if not options.git and state.resolve().is_relative_to(folder.resolve()):
        raise WrongUse(
            f"what is in {quoted(str(folder))} is public; --state has to be elsewhere, for it holds a secret key"
        )
    pushes = [PushAddress("indexnow", INDEXNOW if text == "indexnow" else _web(text, tools)) for text in options.push]
    pushes += [PushAddress("websub", _web(text, tools)) for text in options.websub]
    return SiteOptions(
        folder=folder,
        site=site,
        state=state,
        report=options.report,
        report_url=options.report_url and _web(options.report_url, tools),
        maps=tuple(options.map),
        types=tuple(each.strip() for each in options.types.split(",") if each.strip()),
        ignore=tuple(options.ignore),
        command=options.command,
        sql=options.sql,
        database=options.database,
        git=options.git,
        events=not options.no_events and not options.once,
        every=_seconds("every", options.every),
        gone_after=0.0 if options.once else _seconds("gone-after", options.gone_after),
        quiet=quiet_of(options.quiet, options.quiet_when),
        pushes=tuple(dict.fromkeys(pushes)),
        feeds=tuple(feeds),
        longest_taken=_seconds("longest-taken", options.longest_taken),
        reset=options.reset,
        linked_only=options.linked_only,
    )


def _greet(announcer: Announcer, site: SiteOptions) -> None:
    _say(f"{site.site}: watching {site.folder} by {announcer.source.how}; report: {announcer.publisher.url}{MANIFEST}")
    robots = site.folder / "robots.txt"
    wanted = robots_lines(announcer.publisher.url).splitlines()
    try:
        text = robots.read_text("utf-8", "replace") if robots.exists() else ""
    except OSError:
        return
    missing = [line for line in wanted if line not in text]
    if missing:
        _say(f"{site.site}: add this to robots.txt, so that crawlers find the report:")
        sys.stderr.writelines(f"  {line}\n" for line in missing)


def _serve(options: argparse.Namespace, announcers: list[Announcer]) -> Optional[ReportServer]:
    if not options.listen:
        return None
    from sanderling_announce.report_server import ReportServer

    host, _, port = options.listen.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise WrongUse(f"{quoted(options.listen)} is not an address such as 8081 or 127.0.0.1:8081")
    (announcer,) = announcers
    token = _first_line(options.token_file) if options.token_file else os.environ.pop(TOKEN_VARIABLE, "").strip()
    if not token:
        raise WrongUse(
            f"--listen needs a token that crawlers present at /begin: --token-file or the variable {TOKEN_VARIABLE}"
        )
    if len(token) < SHORTEST_TOKEN:
        raise WrongUse(f"a token of {len(token)} characters can be guessed; it needs {SHORTEST_TOKEN} at least")
    server = ReportServer(host.strip("[]") or "127.0.0.1", int(port), announcer.publisher.folder, announcer.flag, token)
    _say(f"{announcer.site}: the report is served at http://{host or '127.0.0.1'}:{server.port}/{MANIFEST}")
    return server


def _web(text: str, tools: Tools) -> str:
    url = tools.canonical(text)
    if url is None:
        raise WrongUse(f"{quoted(text)} is not a URL such as http://localhost:8080/indexnow")
    return url


def _path(text: str) -> Path:
    """A path. An empty one is an error: it is usually an unset variable, and would mean the current
    folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the path is empty")
    return Path(text)


def _seconds(name: str, text: str) -> float:
    found = _DURATION.fullmatch(text.strip())
    if not found:
        raise WrongUse(f"{name} = {quoted(text)} is not a duration such as 10s, 5m or 2h")
    return float(found[1]) * _UNITS[found[2]]


def _first_line(path: Path) -> str:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise WrongUse(f"{path} cannot be read: {why}") from None
    if not lines or not lines[0].strip():
        raise WrongUse(f"the first line of {path} is empty")
    return lines[0].strip()


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def _say(line: str) -> None:
    """To standard error, without characters that could control a terminal."""
    shown = "".join(each if each.isprintable() else "\ufffd" for each in line)
    sys.stderr.write(f"sanderling: {shown}\n")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise WrongUse(f"{message}; see `{self.prog} --help`")


def main(arguments: Optional[list[str]] = None) -> int:
    """The small package's own command line."""
    parser = _Parser(
        prog="sanderling-announce",
        description=ABOUT.replace("sanderling announce", "sanderling-announce"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"sanderling-announce {__version__}")
    add_arguments(parser)
    try:
        return run(parser.parse_args(arguments))
    except (WrongUse, CannotAnnounce) as error:
        _say(str(error))
        return 2 if isinstance(error, WrongUse) else 1
    except KeyboardInterrupt:
        return 130
