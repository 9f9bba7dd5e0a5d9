"""`sanderling crawl`: crawl until the scope is exhausted or a limit is met; running it again
resumes."""

import argparse
import json
import os
import re
import shlex
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from sanderling.cli.output import write_json
from sanderling.cli.progress import Display, RevisitDisplay
from sanderling.cluster.crews import as_set
from sanderling.errors import BadSeed, RunFailed, UsageError
from sanderling.model import Counts
from sanderling.presenting.arguments import pathname
from sanderling.presenting.held import by_code, held_lines
from sanderling.presenting.screen import duration, harmless, many, rate_of, say, size
from sanderling.processes import garbage
from sanderling.repository.folder import TOPIC, Folder
from sanderling.repository.opening import settings_for
from sanderling.server.frontier.scope import Scope, canonical_seed
from sanderling.server.loop import CrawlServer
from sanderling.server.requests.status import CrawlProgress
from sanderling.server.revisits.terms import Terms
from sanderling.server.topic.bookmarks import bookmarks_in, is_bookmarks
from sanderling.server.topic.topic import pages_by_topic
from sanderling.settings import DECLARED, Declared, Settings
from sanderling.urls import hostname
from sanderling.urls.patterns import pattern

if TYPE_CHECKING:
    from sanderling.server.topic.harvest import Harvest
    from sanderling.topics.model import Topic

# A crawl of fewer pages brought little.
FEW = 5

_ROUND = "this finished a round of visits that had been interrupted; for a full one run"
_ABOUT = """Crawl one or more sites into a folder. Run it again to resume: stored pages are not fetched again.

Examples:
  sanderling crawl https://example.org/ -d example         one host, politely
  sanderling crawl -d example                              resume
  sanderling crawl --seeds list.txt -d many --scope domain seeds from a file
  sanderling crawl https://example.org/docs/ -d docs --scope prefix
                   --max-pages 500                         a part of a site
  sanderling crawl https://example.org/ -d birds --scope any
                   --topic 'wading birds' --max-pages 500  pages on a topic
  sanderling crawl http://localhost:8000/ -d own --per-host 16
                   --delay 0                               your own site, fast
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "crawl", description=_ABOUT,
        usage="sanderling crawl [URL ...] [-d DIR] [options]",
    )  # fmt: skip
    parser.add_argument("url", nargs="*", help="where to start")
    parser.add_argument(
        "-d", "--dir", type=pathname, help="the crawl folder (default: named after the first seed's host)"
    )
    parser.add_argument(
        "--seeds", type=pathname, metavar="FILE", help="more seeds: one per line, or a browser's bookmark file"
    )
    parser.add_argument("--again", action="store_true", help="revisit every known page; fetch only what changed")
    parser.add_argument("--retry-failed", action="store_true", help="retry all failed pages")
    parser.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    add_settings(parser)
    parser.set_defaults(run=run)


class _Topics(argparse.Action):
    """Joins several topics in one setting."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        before = getattr(namespace, self.dest, None)
        setattr(namespace, self.dest, f"{before}; {values}" if before else values)


def add_settings(parser: argparse.ArgumentParser) -> None:
    """A flag for every setting."""
    groups: dict[str, Any] = {}
    defaults = Settings()
    for each in DECLARED:
        if each.group not in groups:
            groups[each.group] = parser.add_argument_group(each.group)
        group = groups[each.group]
        if each.unit in ("rules", "tables", "values"):
            continue  # tables do not fit on a command line
        if each.unit == "flag":
            _add_flag(group, each, is_on=getattr(defaults, each.name))
        else:
            default = getattr(defaults, each.name)
            note = "" if default in (None, ()) else f" (default: {_default_text(each.unit, default)})"
            action: Any = "append" if each.unit == "list" else "store"
            if each.name == "topic":
                action = _Topics
            group.add_argument(each.flag, dest=each.name, action=action, metavar=each.metavar, help=each.help + note)


def _add_flag(group: Any, setting: Declared, is_on: bool) -> None:
    """`--NAME` and `--no-NAME`. The help names the second only if the setting is on by default."""
    if is_on:
        group.add_argument(setting.flag, dest=setting.name, action=argparse.BooleanOptionalAction, help=setting.help)
        return
    group.add_argument(setting.flag, dest=setting.name, action="store_true", default=None, help=setting.help)
    # Settings are kept in the folder, so a later run may want to turn one off.
    off = "--no-" + setting.flag.removeprefix("--")
    group.add_argument(off, dest=setting.name, action="store_false", default=None, help=argparse.SUPPRESS)


def _default_text(unit: str, default: Any) -> str:
    if unit == "size":
        return size(default)
    if unit == "list":
        return ", ".join(default)
    return f"{default:g}s" if unit == "duration" else str(default)


def run(options: argparse.Namespace) -> int:
    seeds = [canonical_seed(text) for text in options.url]
    if options.seeds:
        seeds += _seeds_in(options.seeds)
    _hint_at_http(options.url)
    chosen = chosen_settings(options)
    topic = _chosen_topic(chosen)
    folder = Folder(options.dir or _default_folder(seeds))
    folder.check_usable()
    settings, planted = settings_for(folder, chosen)
    if not folder.exists() and not seeds:
        raise UsageError("nothing to crawl: name a URL, for example `sanderling crawl https://example.org/`")
    if not settings.proxy:
        _check_resolvable([seed for url in options.url if (seed := canonical_seed(url)) not in planted])
    if "tunnel_depth" in chosen and not settings.topic:
        say("--tunnel-depth does nothing without --topic")
    seeds = [*planted, *seeds]
    Scope(seeds, settings)  # a bad pattern is said before anything is made
    _check_browser(settings, folder.path)
    with serving(folder, settings, seeds, options.again, retry=options.retry_failed, topic=topic) as server:
        for line in server.repaired:
            say(line)
        started_with = msgspec.structs.replace(server.progress().counts)
        progress, interrupted = watch(server, RevisitDisplay(started_with) if options.again else Display())
        if options.again and not options.json:
            sys.stdout.write(what_was_found(started_with, progress, folder.path))
            if server.finishes_round and not interrupted:
                sys.stdout.write(f"{_ROUND} `sanderling crawl -d {shlex.quote(str(folder.path))} --again`\n")
        else:
            _summarise(folder, server, started_with, progress, options.json)
        away = server.unreachable
    counts = progress.counts
    if not counts.pages and not counts.queued and (counts.failed or counts.gone or counts.excluded):
        raise RunFailed("not one page could be fetched")
    if away:
        raise RunFailed(
            f"{counts.queued:,} pages stay queued: {' and '.join(away[:3])}{' and others' * (len(away) > 3)} cannot be "
            "reached; run the same command again to go on"
        )
    return interrupted


def _check_browser(settings: Settings, folder: Path) -> None:
    """Says what keeps a crawl from rendering before anything is made."""
    for text in settings.render_include:
        pattern(text)
    if settings.wait_for or settings.run_script:
        from sanderling.browser.page_rules import PageRules

        PageRules(settings, folder)
    if settings.screenshots and settings.render == "never":
        raise UsageError("screenshots are taken of rendered pages only: choose --render auto or --render always")
    if settings.render == "always" or settings.browser:
        from sanderling.browser.finding import find

        if settings.render != "never" and find(settings.browser) is None:
            raise UsageError("there is no browser to render pages with: run `sanderling browser install`")


def _absolute_script(text: str) -> str:
    pages, arrow, file = text.rpartition(" => ")
    return pages + arrow + str(Path(file.strip()).absolute())


def _hint_at_http(typed: list[str]) -> None:
    """Says that an address without a scheme is tried with https, which few servers on a port of
    their own speak."""
    for text in typed:
        if re.match(r"[\w.-]+:(?!443\b)\d+(/|$)", text.strip()):
            url = canonical_seed(text)
            say(f"trying {url}; if that server speaks plain HTTP, write {url.replace('https', 'http', 1)}")


def chosen_settings(options: argparse.Namespace) -> dict[str, object]:
    if getattr(options, "run_script", None):  # typed in this folder, and used from that of the crawl
        options.run_script = [_absolute_script(text) for text in options.run_script]
    return {each.name: value for each in DECLARED if (value := getattr(options, each.name, None)) is not None}


def _chosen_topic(chosen: dict[str, object]) -> "Topic | None":
    """The topic that `--topic` names, which becomes the model in the folder. A bookmark file makes
    one at once."""
    if not chosen.get("topic"):
        return None
    from sanderling.cli.topic import topic_for_crawl

    text = str(chosen["topic"])
    topic = topic_for_crawl(text)
    chosen["topic"] = TOPIC
    return topic


_ALWAYS_TOLD = {
    "changed": "changed", "pages": "new", "vanished": "gone", "not_modified": "not modified (304)",
    "same": "with the same bytes",
}  # fmt: skip
_TOLD = {"back": "back", "quiet": "with other bytes but no news", "missed": "out of reach"}


def what_was_found(before: Counts, progress: CrawlProgress, folder: Path) -> str:
    """What another round of visits brought."""
    where = shlex.quote(str(folder))
    found = {name: getattr(progress.counts, name) - getattr(before, name) for name in (*_ALWAYS_TOLD, *_TOLD, "visits")}
    told = ", ".join(f"{found[name]:,} {words}" for name, words in _ALWAYS_TOLD.items())
    told += "".join(f", {found[name]:,} {words}" for name, words in _TOLD.items() if found[name])
    # A page out of reach may have given no answer, and only answers count as visits.
    named = sum(number for name, number in found.items() if name != "visits")
    visits = max(found["visits"], named)
    if others := visits - named:
        told += f", {others:,} other (redirects, errors, pages still gone)"
    return (
        f"{many(visits, 'visit')} in {folder}, {duration(progress.seconds)}: {told}\n"
        f"next: `sanderling changes {where}`, `sanderling diff {where} URL`\n"
    )


@contextmanager
def serving(
    folder: Folder, settings: Settings, seeds: list[str], again: bool, terms: Terms | None = None, retry: bool = False,
    topic: "Topic | None" = None,
) -> Iterator[CrawlServer]:  # fmt: skip
    crew = settings.clients or os.cpu_count() or 1
    garbage.collect_rarely()
    if settings.hosts:
        sys.stderr.write(f"starting a cluster on {settings.hosts}\n")
    server = CrawlServer(folder, settings, seeds, crew, again, terms, retry, topic, as_set)
    try:
        yield server
    finally:
        server.close()


def watch(
    server: CrawlServer, display: Display, enough: Callable[[], bool] = lambda: False
) -> tuple[CrawlProgress, int]:
    """Runs a crawl under a display until it ends, is `enough`, or the user stops it.

    The second value is the exit code of a stop by a signal, as shells have it: 130 for Ctrl-C, 143
    for SIGTERM.
    """
    signals: list[int] = []
    server.on_message = display.say
    before = {
        each: signal.signal(each, lambda number, _: signals.append(number)) for each in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        progress = server.run(display.show, lambda: bool(signals), enough)
    finally:
        display.close()
        for each, handler in before.items():
            signal.signal(each, handler)
    if signals:
        say("stopped; run the same command again to resume")
    return progress, 128 + signals[0] if signals else 0


def _summarise(folder: Folder, server: CrawlServer, before: Counts, progress: CrawlProgress, as_json: bool) -> None:
    counts, where = progress.counts, shlex.quote(str(folder.path))
    held = server.held_reasons() if progress.counts.held else {}
    why = _why_little(folder, server, counts)
    if as_json:
        summary = {
            "folder": str(folder.path), "seconds": round(progress.seconds, 3), "clients_replaced": progress.replaced,
            "set_aside": len(server.set_aside), "known": counts.known, "queued": counts.queued,
            "fetched": counts.fetched, "pages": counts.pages, "redirects": counts.redirects, "failed": counts.failed,
            "gone": counts.gone, "excluded": counts.excluded, "held": counts.held,
            "held_why": by_code(held), "why_little": why, "versions": counts.versions, "bytes": counts.bytes,
            "visits": counts.visits, "changed": counts.changed, "not_modified": counts.not_modified, "same": counts.same,
        }  # fmt: skip
        if server.machines:
            summary["machines"] = msgspec.to_builtins(server.machines)
        if server.harvest is not None:
            summary |= {"relevant": server.harvest.relevant, "harvest": server.harvest.rate}
            summary |= {"topics": each} if (each := pages_by_topic(folder)) else {}
            summary |= {"found_share": server.harvest.share._asdict()} if server.harvest.share else {}
        write_json(json.dumps(summary))
        return
    new = counts.pages - before.pages
    rate = f", {rate_of(new / progress.seconds)}" if new and progress.seconds else ""
    lines = [
        f"{many(counts.pages, 'page')} ({size(counts.bytes)}) in {folder.path}, {duration(progress.seconds)}{rate}"
    ]
    machines = [machine for machine in server.machines if machine.level == 1]  # a relay counts for those below it
    if archived := sum(machine.archived for machine in machines):
        sent, from_each = sum(machine.sent for machine in machines), [m for m in machines if m.archived]
        lines.append(f"{size(archived)} of archives came from {many(len(from_each), 'machine')}, sent as {size(sent)}")
    lines += why
    if not counts.pages:
        lines += [f"  {url}  {why}" for url, why in server.sample_failures()]
    elif counts.failed or counts.gone:
        state = "failed" if counts.failed else "gone"
        lines.append(
            f"{counts.gone:,} gone (404), {counts.failed:,} failed: `sanderling pages {where} --state {state}`"
        )
    if counts.failed:
        lines.append(f"`sanderling crawl -d {where} --retry-failed` retries these")
    if server.harvest is not None and counts.pages:
        lines.append(_harvested(server.harvest, where))
        lines += [f"{pages:,} of them on {harmless(name)}" for name, pages in pages_by_topic(folder).items()]
    if server.set_aside:
        lines.append(f"{len(server.set_aside)} set aside because they crashed a client process twice")
    if counts.queued:
        lines.append(_still_queued(server, counts, where))
    if counts.pages and not before.queued and not counts.queued:
        lines.append(f"nothing was left to fetch; `sanderling refresh {where}` revisits what has probably changed")
    if counts.held > counts.pages:
        lines = [*held_lines(held, where, counts.pages), *lines]
    else:
        lines += held_lines(held, where, counts.pages)
    if server.settings.forms != "none" or server.settings.form_post:
        lines.append(f"what its forms brought: `sanderling forms {where}`")
    if counts.pages:
        lines.append(f"next: `sanderling search {where} WORDS`, `sanderling pages {where}`,")
        lines.append(f"      `sanderling export {where} --format jsonl -o pages.jsonl`")
    sys.stdout.write("\n".join(lines) + "\n")


def _why_little(folder: Folder, server: CrawlServer, counts: Counts) -> list[str]:
    """Why a crawl that ended by itself has few pages."""
    little = counts.pages <= FEW
    if counts.queued or server.enough or not (little or 2 * counts.excluded >= counts.pages):
        return []
    # Loaded only now: it reads documents, which a server does not.
    from sanderling.presenting.scarcity import reader, why_little

    return why_little(
        server.first_seeds() if little else [],
        counts.pages,
        server.excluded_reasons(),
        server.settings,
        reader(folder.warcs),
    )


def _harvested(harvest: "Harvest", where: str) -> str:
    """What a focused crawl has brought."""
    rate = f" ({harvest.rate:.0%} of the last pages)" if harvest.rate is not None else ""
    share = harvest.share
    found = f"; about {share.share:.0%} of the topic ({share.low:.0%} to {share.high:.0%})" if share else ""
    return f"{harvest.relevant:,} on the topic{rate}{found}: `sanderling search {where} 'relevance:>0.5 WORDS'`"


def _still_queued(server: CrawlServer, counts: Counts, where: str) -> str:
    """Why URLs were not visited."""
    settings, more = server.settings, _more_than(server.settings, counts)
    limited = more or server.enough or (settings.max_time is not None and not server.stopped)
    if settings.collection is not None and not limited and not server.stopped and _is_full(settings.collection, counts):
        return (
            f"{counts.queued:,} others are known: the collection keeps the {settings.collection:,} most important pages"
        )
    why = "a limit was reached" if limited else "stopped" if server.stopped else "hosts asked for a later retry"
    return f"{counts.queued:,} still queued ({why}); `sanderling crawl -d {where}{more}` continues"


def _more_than(limits: Settings, counts: Counts) -> str:
    """The flag without which another run would meet a limit at once, since all runs count for
    it."""
    if limits.max_pages is not None and counts.pages >= limits.max_pages:
        return " --max-pages N"
    return " --max-bytes SIZE" if limits.max_bytes is not None and counts.bytes >= limits.max_bytes else ""


def _is_full(most: int, counts: Counts) -> bool:
    """Whether a collection takes no more pages."""
    return counts.fetched - counts.redirects >= most


def _default_folder(seeds: list[str]) -> Path:
    if not seeds:
        raise UsageError("name a URL to crawl, or a crawl folder to resume with -d")
    return Path(re.sub(r"[^A-Za-z0-9.-]+", "_", hostname(seeds[0])).strip(".") or "crawl")


def _seeds_in(path: Path) -> list[str]:
    """Seeds from a file: one a line with # comments, or the links of a bookmark file."""
    try:
        text = path.read_text("utf-8-sig", "replace")
    except OSError as error:
        raise BadSeed(f"{path} cannot be read: {error.strerror}") from None
    if is_bookmarks(text):
        found = [bookmark.url for bookmark in bookmarks_in(text)]
    else:
        lines = [re.sub(r"(^|\s)#.*", "", line).strip() for line in text.splitlines()]
        found = [_seed_at(path, number, line) for number, line in enumerate(lines, 1) if line]
    if not found:
        raise BadSeed(f"{path} names no URL")
    return found


def _seed_at(path: Path, number: int, line: str) -> str:
    try:
        return canonical_seed(line)
    except BadSeed as error:
        raise BadSeed(f"{path}, line {number}: {error}") from None


def _check_resolvable(seeds: list[str]) -> None:
    """Refuses a seed whose host name does not exist, before anything is made of it."""
    failed: list[str] = []

    def look_up(name: str) -> None:
        try:
            socket.getaddrinfo(name, None)
        except socket.gaierror as error:
            if error.errno != socket.EAI_AGAIN:
                hint = f"; `sanderling crawl -d {name}` resumes the crawl in that folder" if _is_crawl(name) else ""
                failed.append(f"{name!r} cannot be a seed: the host name cannot be resolved{hint}")
        except UnicodeError:
            failed.append(f"{name!r} cannot be a seed: it is not a valid host name")

    threads = [threading.Thread(target=look_up, args=(hostname(seed),), daemon=True) for seed in seeds[:50]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    if failed:
        raise BadSeed(failed[0])


def _is_crawl(name: str) -> bool:
    return Folder(Path(name)).exists()
