"""`sanderling watch`: pages that are visited at an interval of their own, and who is told."""

import argparse
import json
import math
import shlex
import signal
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from sanderling import clock
from sanderling.change.rules import problem
from sanderling.cli.crawl import serving
from sanderling.cli.crawl import watch as under_display
from sanderling.cli.output import write_json
from sanderling.cli.progress import RevisitDisplay
from sanderling.clock import DAY
from sanderling.errors import RunFailed, UsageError
from sanderling.model import Counts
from sanderling.presenting.arguments import pathname
from sanderling.presenting.screen import harmless, interval, many, say
from sanderling.repository.folder import Folder
from sanderling.repository.opening import reading, settings_for
from sanderling.retention import EXPECTED
from sanderling.server.loop import CrawlServer
from sanderling.server.requests import watch_list
from sanderling.server.requests.status import CrawlProgress
from sanderling.server.retention import EVERY, keeps_everything
from sanderling.server.revisits.terms import Budget, Terms
from sanderling.settings import read_value, seconds
from sanderling.urls import SEEDABLE, with_fragment
from sanderling.urls.patterns import pattern
from sanderling.watches import USUAL, Watch

_ABOUT = """Watches single pages, not their links. Each has its own interval, title, tags and selectors, and tells its own
addresses.

Examples:
  sanderling watch https://e.org/p/7 --select .price --every 10m --notify env:M
  sanderling watch test https://e.org/p/7 --select .price
                                        what matches now; nothing is kept
  sanderling watch list
  sanderling watch import urls.yaml     of urlwatch, webchanges, ...
  sanderling watch edit https://e.org/p/7 --every 1h
  sanderling watch pause https://e.org/p/7
                                        resume goes on, remove ends it
  sanderling watch run                  visit them all, until stopped
  sanderling watch run -d shops -d news the watches of several folders
"""
_FILTERS = (
    ("--select", "SELECTOR", "only this part of the page counts: CSS, XPath (//b) or JSONPath ($.price)"),
    ("--ignore", "SELECTOR", "this part of the page does not count"),
    ("--keep-text", "RE", "only lines with this pattern count, or the groups of the pattern in them"),
    ("--ignore-text", "RE", "lines with this pattern do not count"),
    ("--must", "RE", "tell a change only if this pattern appears"),
    ("--must-not", "RE", "tell a change only if this pattern does not appear"),
    ("--number", "HOW", 'tell a change only if the number rises, falls, or gets "below 75" or "above 75"'),
    ("--wait-for", "CSS", "read the page only when this is there"),
    ("--click", "CSS", "click this before the page is read"),
)
VERBS = ("list", "edit", "pause", "resume", "remove", "test", "import", "run")
FOLDER = Path("watches")
# Visits of a watch are asked for one by one, so that no process plans any.
_NO_PLAN = Terms(Budget(1.0, "visits", 3650 * DAY), forever=True, sitemaps=False, only_asked=True)
_MOST_SHOWN = 20
# What is due within this time is visited in the same run.
_SOON = 5.0
_TRY_AGAIN = 60.0  # seconds
_SELDOM = 300.0  # seconds between two lines in the log of a service


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "watch", description=_ABOUT,
        usage="sanderling watch URL [options]\n       sanderling watch VERB [URL] [options]",
    )  # fmt: skip
    parser.add_argument("what", metavar="URL", help=f"the page to watch, or one of {', '.join(VERBS)}")
    parser.add_argument("url", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("-d", "--dir", type=pathname, action="append", help=f"the folder (default: {FOLDER})")
    for flag, metavar, help in _FILTERS:
        parser.add_argument(flag, action="append", metavar=metavar, help=f"{help} (repeatable)")
    parser.add_argument(
        "--script", type=pathname, metavar="FILE", help="JavaScript that is run before the page is read"
    )
    parser.add_argument("--every", metavar="TIME", help=f"the interval, such as 10m (default: {interval(USUAL)})")
    parser.add_argument("--title", metavar="T", help="a name for messages")
    parser.add_argument(
        "--tag", action="append", dest="tags", metavar="TAG", help="a tag; notify can name it (repeatable)"
    )
    parser.add_argument("--notify", action="append", metavar="ADDRESS", help="tell this address of changes: an Apprise address, env:NAME or file:PATH (repeatable)")  # fmt: skip
    parser.add_argument("--keep", metavar="HOW", help=f"how long versions are kept: {EXPECTED} (default: the setting keep of the folder)")  # fmt: skip
    parser.add_argument("--once", action="store_true", help="with run: visit what is due now, and end")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    verb = options.what if options.what in VERBS else ""
    if not verb and options.url:
        raise UsageError(f"{options.what!r} is not one of {', '.join(VERBS)}")
    text = options.url if verb else options.what
    if verb in ("list", "run"):
        if text:
            raise UsageError(f"`watch {verb}` takes no URL: name the folder by -d")
        return _list(options) if verb == "list" else _run(options)
    if verb == "import":
        if not text:
            raise UsageError("`watch import` needs a file: of urlwatch, webchanges or changedetection.io")
        return _import(Folder(_only_folder(options)), Path(text))
    if not text:
        raise UsageError(f"`watch {verb}` needs the URL of a page")
    url = with_fragment(text.strip(), SEEDABLE)
    if url is None:
        raise UsageError(f"{text!r} is not a URL that begins with http:// or https:// and a host")
    if verb == "test":
        return _test(url, options)
    return _change(Folder(_only_folder(options)), url, verb, options)


def _only_folder(options: argparse.Namespace) -> Path:
    if len(options.dir or ()) > 1:
        raise UsageError("give one folder: only `watch run` takes several")
    found: Path = (options.dir or [FOLDER])[0]
    return found


# ---- the list of watches


def _change(folder: Folder, url: str, verb: str, options: argparse.Namespace) -> int:
    """Adds, edits, pauses, resumes or removes one watch."""
    given = _given(options)
    if verb == "remove":
        watch_list.remove(folder, url)
    elif verb:
        watch_list.edit(folder, url, given | ({"paused": verb == "pause"} if verb in ("pause", "resume") else {}))
    else:
        watch_list.add(folder, url, given)
    done = {
        "": "watching",
        "edit": "edited",
        "pause": "paused",
        "resume": "watching again",
        "remove": "no longer watching",
    }
    sys.stdout.write(f"{done[verb]} {harmless(url)} in {folder.path}\n")
    if not verb:
        _say_what_matches(url, options)
        sys.stdout.write(
            f"`sanderling watch run{'' if folder.path == FOLDER else f' -d {shlex.quote(str(folder.path))}'}` visits it\n"
        )
    return 0


def _given(options: argparse.Namespace) -> dict[str, Any]:
    if options.every is not None:
        seconds("--every", options.every)
    if options.script is not None:  # typed in this folder, and used from that of the watches
        if not options.script.is_file():
            raise UsageError(f"{options.script} is not a file with JavaScript")
        options.script = str(options.script.absolute())
    check_filters(vars(options))
    names = [each for each in Watch.__struct_fields__ if each not in ("url", "paused")]
    return {name: value for name in names if (value := getattr(options, name)) is not None}


def check_filters(given: Mapping[str, Any]) -> None:
    for selector in (*(given.get("select") or ()), *(given.get("ignore") or ())):
        if why := problem(selector):
            raise UsageError(f"{selector!r} is not a valid selector: {why}")
    for name in ("keep_text", "ignore_text", "must", "must_not"):
        for text in given.get(name) or ():
            pattern(text)


def _list(options: argparse.Namespace) -> int:
    folder = Folder(_only_folder(options))
    watches = watch_list.watches(folder)
    for each in watches:
        if options.json:
            table = {**msgspec.structs.asdict(each), "notify": len(each.notify)}
            write_json(json.dumps(table))
            continue
        facts = [
            f"every {interval(each.every)}",
            *(f"only {part}" for part in (*each.select, *each.keep_text)),
            *(f"without {part}" for part in (*each.ignore, *each.ignore_text)),
            *(f"must {each}" for each in each.must),
            *(f"must not {each}" for each in each.must_not),
            *each.number,
            *(f"#{tag}" for tag in each.tags),
        ]
        facts += [f"keep {each.keep}"] if each.keep else []
        facts += [many(len(each.notify), "address")] if each.notify else []
        facts += ["paused"] if each.paused else []
        title = f"{harmless(each.title)}: " if each.title else ""
        sys.stdout.write(f"{title}{harmless(each.url)}\n  {harmless(', '.join(facts))}\n")
    if not watches and not options.json:
        sys.stdout.write(f"nothing is watched in {folder.path}: add a page by `sanderling watch URL`\n")
    return 0


def _import(folder: Folder, path: Path) -> int:
    """Adds what another program watches. What cannot be added is said, and the rest is."""
    from sanderling.server.requests.watch_import import watches_in  # late: few ever import

    try:
        found = watches_in(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    added = 0
    for each in found:
        url = with_fragment(each.url.strip(), SEEDABLE)
        wrong = "" if url else f"{each.url!r} is not a URL that begins with http:// or https:// and a host"
        try:
            if url:
                check_filters(each.given)
                watch_list.add(folder, url, each.given)
                added += 1
        except UsageError as error:
            wrong = str(error)
        if wrong:
            say(f"not imported: {wrong if each.url else ', '.join(each.omitted)}")
        elif each.omitted:
            say(f"{url}: left out: {', '.join(each.omitted)}")
    sys.stdout.write(f"imported {many(added, 'watch', 'watches')} of {len(found):,} into {folder.path}\n")
    return 0 if added or not found else 1


# ---- what matches now


def _test(url: str, options: argparse.Namespace) -> int:
    found = _found(url, options)
    if options.json:
        write_json(json.dumps({"url": url, "matches": found}))
    else:
        for text in found[:_MOST_SHOWN]:
            sys.stdout.write(f"  {harmless(text[:500])}\n")
        sys.stdout.write(f"{many(len(found), 'match', 'matches')}\n")
    if not found:
        raise RunFailed(f"nothing matches on {url} now")
    return 0


def _found(url: str, options: argparse.Namespace) -> list[str]:
    """What a watch with these options finds now, visited with the settings of its folder."""
    table = {name: value for name, value in _given(options).items() if name != "every"}
    watch = read_value("watch", [{"url": url, **table}])[0]
    check_browser(watch)
    folder = Folder(_only_folder(options))
    from sanderling.server.requests.watch_trial import found_now  # late: it loads a whole crawl

    return found_now(watch, settings_for(folder, {})[0])


def check_browser(watch: Watch) -> None:
    if not watch.needs_browser:
        return
    from sanderling.browser.finding import find

    if find(None) is None:
        raise UsageError("--wait-for, --click and --script need a browser: run `sanderling browser install`")


def _say_what_matches(url: str, options: argparse.Namespace) -> None:
    try:
        found = _found(url, options)
    except RunFailed as error:
        say(str(error))
        return
    chosen = [*(options.select or ()), *(options.keep_text or ())]
    if chosen and not found:
        say(f"{', '.join(chosen)} matches nothing on {url} now")
    elif chosen:
        sys.stdout.write(f"  now: {harmless(' | '.join(found)[:300])}\n")


# ---- visits


def _run(options: argparse.Namespace) -> int:
    places = options.dir or [FOLDER]
    for place in places:
        if not any(not each.paused for each in watch_list.watches(Folder(place))):
            raise UsageError(
                f"nothing is watched in {place}, or all of it is paused: add a page by `sanderling watch URL`"
            )
    if len(places) > 1:
        return _keep(places)
    folder = Folder(places[0])
    settings, seeds = settings_for(folder, {})
    watches = [each for each in settings.watch if not each.paused]
    for each in watches:
        check_browser(each)
    paused = {each.url for each in settings.watch if each.paused}
    seeds = [seed for seed in seeds if seed not in paused]
    if not settings.clients:
        settings = msgspec.structs.replace(settings, clients=1)  # a few pages need no more
    visited = _visited(folder, watches)
    if len(visited) < len(watches) or not options.once:
        with serving(folder, settings, seeds, False) as server:  # pages that were never visited
            _, interrupted = under_display(server, RevisitDisplay(server.progress().counts, _SELDOM))
        if interrupted:
            return interrupted
    now = clock.now()
    due = [each for each in watches if each.url in visited and visited[each.url] + each.every <= now + _SOON]
    if options.once and not due:
        return 0
    chosen = due if options.once else watches
    visit_at = dict.fromkeys((each.url for each in chosen), 0.0)
    begins_anew = not options.once and not keeps_everything(settings)
    while True:
        with serving(folder, settings, seeds, False, _NO_PLAN) as server:
            before = msgspec.structs.replace(server.progress().counts)
            display = _Visits(server, chosen, before, options.once, visit_at)
            display.ends_at = time.monotonic() + EVERY if begins_anew else math.inf
            _, interrupted = under_display(server, display, display.enough)
        if interrupted or options.once or server.stopped:
            return 0 if interrupted == 128 + signal.SIGTERM else interrupted


def _visited(folder: Folder, watches: list[Watch]) -> dict[str, float]:
    """When watched pages were last visited."""
    if not folder.database.exists():
        return {}
    with reading(folder.path) as (_, store):
        return watch_list.last_visits(store, watches)


def _keep(places: list[Path]) -> int:
    """Visits the watches of many folders, in turns."""
    from sanderling.web.keeper import STEP_SECONDS, Keeper
    from sanderling.web.shelf import Shelf

    keeper, ended = Keeper(Shelf(places)), threading.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: ended.set())
    while not ended.is_set():
        keeper.step()
        ended.wait(STEP_SECONDS)
    keeper.close()
    return 0


class _Visits(RevisitDisplay):
    """Shows the visits of watched pages, and asks for each when its time has come."""

    def __init__(
        self, server: CrawlServer, watches: list[Watch], before: Counts, once: bool, visit_at: dict[str, float]
    ) -> None:
        super().__init__(before, _SELDOM)
        self._server, self._watches, self._once = server, watches, once
        self._next = visit_at
        self.ends_at = math.inf  # for a new run, at whose beginning versions are removed that are not kept
        self._asked: dict[str, float] = {}

    def enough(self) -> bool:
        """Whether each was visited once, and no more is wanted, or it is time for a new run."""
        done = self._once and all(self._next.values())
        return (done or time.monotonic() > self.ends_at) and not self._server.awaiting

    def _is_tried_again(self, watch: Watch, now: float) -> bool:
        """Whether a page that fails is looked at before its time."""
        asked = self._asked.get(watch.url, now)
        return not self._once and now - asked > _TRY_AGAIN and self._server.failing(watch.url)

    def show(self, progress: CrawlProgress) -> None:
        now = time.monotonic()
        due = [each for each in self._watches if self._next[each.url] <= now or self._is_tried_again(each, now)]
        for each in due:  # a visit that is late delays the next ones, so that none come in a burst
            self._next[each.url] = now + (math.inf if self._once else each.every)
            self._asked[each.url] = now
        if due:
            self._server.visit(each.url for each in due)
        super().show(progress)

    def line(self, progress: CrawlProgress) -> str:
        after, before = progress.counts, self._before
        parts = [
            many(len(self._watches), "watch", "watches"), many(after.visits - before.visits, "visit"),
            f"{after.changed - before.changed:,} changed",
        ]  # fmt: skip
        return " · ".join([*parts, "the network is away"] if progress.away else parts)
