"""Builds the announcer of one site from what the user asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Optional

from sanderling_announce import hashing
from sanderling_announce.announcer import Announcer, Receivers, Source
from sanderling_announce.errors import CannotAnnounce
from sanderling_announce.files import write_whole
from sanderling_announce.flag import LONGEST, Flag, Reset, Taken
from sanderling_announce.folder import GONE_AFTER, FolderSource
from sanderling_announce.hashing import sha256
from sanderling_announce.linked import Reach, linked_by
from sanderling_announce.listing import CommandLister, GitLister, Lister, ListSource, SqlLister
from sanderling_announce.memory import SiteMemory
from sanderling_announce.pages import PageMap, rule_of
from sanderling_announce.places import WELL_KNOWN
from sanderling_announce.publishing import Publisher
from sanderling_announce.pushing import Push, PushAddress
from sanderling_announce.quiet import Quiet
from sanderling_announce.tools import PLAIN, Tools


class SiteOptions(NamedTuple):
    folder: Path
    site: str
    state: Path
    report: Optional[Path] = None  # None: where crawlers look for it, in the folder
    report_url: str = ""
    maps: tuple[str, ...] = ()
    types: tuple[str, ...] = ()  # "all": every file
    ignore: tuple[str, ...] = ()
    command: str = ""
    sql: str = ""
    database: str = ""
    git: str = ""
    events: bool = True
    every: float = 0.0
    gone_after: float = GONE_AFTER
    quiet: Quiet = Quiet()
    pushes: tuple[PushAddress, ...] = ()
    feeds: tuple[str, ...] = ()
    longest_taken: float = LONGEST
    reset: Optional[Reset] = None  # None: crawlers choose
    linked_only: bool = False  # list only pages that links lead to from the main page


def assemble(
    options: SiteOptions, say: Callable[[str], None], wake: Callable[[], None], tools: Tools = PLAIN
) -> Announcer:
    rules = [rule_of(text, options.site, tools) for text in options.maps]
    types = None if "all" in options.types else frozenset(each.encode().lstrip(b".").lower() for each in options.types)
    feeds = frozenset(options.feeds)
    pages = (
        PageMap(options.site, types, rules, feeds) if options.types else PageMap(options.site, rules=rules, extra=feeds)
    )
    memory = SiteMemory(options.state / "announcer.db", options.site)
    _start_anew_if_other(memory, options, say)
    report = options.report or options.folder / WELL_KNOWN
    _require_inside(report, options.folder)
    key = memory.fact("indexnow_key", os.urandom(16).hex())
    source = _source(options, pages, memory, report, key, say, wake, tools)
    publisher = Publisher(memory, options.site, source.url_of, report, _report_url(options), _secret(options.state))
    reach = Receivers([], key, f"{options.site}{key}.txt", feeds)
    for address in options.pushes:
        reach.pushes.append(Push(address, tools.post, say, wake))
    if any(address.kind == "indexnow" for address in options.pushes):
        _publish_key(options.folder, key)
    taken = Taken(memory.fact("taken_until", 0.0), memory.fact("taken_by", ""))
    flag = Flag(taken, wake, options.longest_taken, options.reset)
    linked = linked_by(options.folder, options.site, tools)
    return Announcer(options.site, memory, source, publisher, reach, flag, options.quiet, linked, say)


def _source(
    options: SiteOptions, pages: PageMap, memory: SiteMemory, report: Path, key: str, say: Callable[[str], None],
    wake: Callable[[], None], tools: Tools,
) -> Source:  # fmt: skip
    lister: Lister | None = None
    if options.command:
        lister = CommandLister(options.command)
    elif options.sql:
        lister = SqlLister(options.database, options.sql)
    elif options.git:
        lister = GitLister(str(options.folder), options.git)
    if lister:
        return ListSource(lister, pages, memory, say, tools.join, options.every)
    own = [os.fsencode(f"{key}.txt")]
    if report.absolute().is_relative_to(options.folder.absolute()):
        own.append(os.fsencode(report.absolute().relative_to(options.folder.absolute()).as_posix() + "/"))
    reach = Reach(os.fsencode(options.folder.absolute()), pages, tools) if options.linked_only else None
    return FolderSource(
        str(options.folder), pages, memory, say, wake, events=options.events, outside=tuple(own), every=options.every,
        ignored=[tools.pattern(each) for each in options.ignore], gone_after=options.gone_after, reach=reach,
    )  # fmt: skip


def _start_anew_if_other(memory: SiteMemory, options: SiteOptions, say: Callable[[str], None]) -> None:
    """What is a page, and what of it counts, decides about every hash: with another answer none can
    be compared."""
    asked: tuple[object, ...] = (
        options.maps,
        options.types,
        options.ignore,
        options.command,
        options.sql,
        options.git,
        options.feeds,
    )
    asked += ("linked only",) if options.linked_only else ()
    fingerprint = sha256(repr(asked).encode()).hexdigest()
    if memory.fact("asked", fingerprint) != fingerprint:
        say("the options are other ones than before: all pages are scanned again")
        memory.start_anew()
        memory.remember("asked", fingerprint)
    elif hashing.hasher(memory.hash_name) is None:
        say("what is remembered was hashed in a way that is not to be had here: all pages are scanned again")
        memory.start_anew()
        memory.remember("asked", fingerprint)


def _report_url(options: SiteOptions) -> str:
    if options.report_url:
        return options.report_url if options.report_url.endswith("/") else f"{options.report_url}/"
    if options.report and options.report.absolute().is_relative_to(options.folder.absolute()):
        return options.site + options.report.absolute().relative_to(options.folder.absolute()).as_posix() + "/"
    return options.site + WELL_KNOWN


def _secret(state: Path) -> bytes:
    """The key that signs; made the first time, and readable by its owner only."""
    path = state / "signing.key"
    try:
        secret = path.read_bytes()
    except FileNotFoundError:
        secret = os.urandom(32)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with open(descriptor, "wb") as file:
            file.write(secret)
    if len(secret) != 32:
        raise CannotAnnounce(f"{path} is no key of 32 bytes; remove it, and another one is made")
    return secret


def _require_inside(report: Path, folder: Path) -> None:
    """Refuses a folder for the report in the site that is a link out of it: whoever may write into
    the site could have files elsewhere overwritten."""
    if report.absolute().is_relative_to(folder.absolute()) and not report.resolve().is_relative_to(folder.resolve()):
        raise CannotAnnounce(
            f"{report} leads out of {folder}: remove the link, or name the place of the report by --report"
        )


def _publish_key(folder: Path, key: str) -> None:
    """The file by which engines know that whoever tells them of URLs may do so."""
    path = folder / f"{key}.txt"
    if path.is_symlink() or not path.exists():
        write_whole(path, key.encode())


def state_folder(base: Path | None, site: str) -> Path:
    """Where an announcer keeps its memory: not below the site, which is public."""
    name = re.sub(r"[^\w.-]+", "_", site.partition("://")[2].rstrip("/"))[:80] or "site"
    if base is None:
        home = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_STATE_HOME")
        base = Path(home or Path.home() / ".local" / "state") / "sanderling" / "announce"
    return base / f"{name}-{sha256(site.encode()).hexdigest()[:8]}"
