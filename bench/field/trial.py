"""`python -m bench field`: every application in turn, and one table of what came of it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bench.field.application import FIELD, Application, Edits, Hiding, Item, Manners, fresh, running
from bench.field.crawling import MINUTES, Crawl, changes, crawl, finds, forms, scrapy, written
from bench.field.registry import APPLICATIONS
from bench.places import RESULTS, BenchError, say

# Revisits of an unchanged site before the edit. What is reported then is false.
QUIET = 2
SEARCHED = 20


@dataclass(frozen=True)
class Outcome:
    """One line of the table. None is not measured."""

    name: str
    truth: int
    found: int
    requests: int
    wasted: int
    held: int  # true pages that were held back
    false: Sequence[int]  # changes reported at each revisit without an edit
    edits: int
    reported: int  # edits that were reported
    twice: int  # further pages that were reported after the edit, lists left out
    first: int  # of SEARCHED words, how many bring their page first
    hidden: int | None = None
    reached: int | None = None
    form_requests: int | None = None
    scrapy_found: int | None = None
    scrapy_requests: int | None = None


def run(names: Sequence[str], without_scrapy: bool = False, minutes: int = MINUTES) -> int:
    unknown = [name for name in names if name not in APPLICATIONS]
    if unknown:
        raise BenchError(f"There is no application {unknown[0]!r}; there are {', '.join(APPLICATIONS)}.")
    outcomes = []
    for name in names or APPLICATIONS:
        try:
            outcomes.append(_try(name, APPLICATIONS[name], without_scrapy, minutes))
        except BenchError as error:
            say(f"{name}: {error}")
            continue
        say(json.dumps(asdict(outcomes[-1])))
        _save(outcomes)
    print(table(outcomes))
    return 0 if len(outcomes) == len(names or APPLICATIONS) else 1


def hidden(names: Sequence[str], minutes: int = MINUTES) -> int:
    """Only what forms reach."""
    hiding = {name: each for name, each in APPLICATIONS.items() if isinstance(each, Hiding)}
    if unknown := [name for name in names if name not in hiding]:
        raise BenchError(f"{unknown[0]!r} hides nothing behind a form; there are {', '.join(hiding)}.")
    print("| application | hidden | reached | requests of forms |\n|---|---|---|---|")
    for name in names or hiding:
        APPLICATIONS[name].install()
        every, reached, requests = _hidden(name, APPLICATIONS[name], minutes)
        print(f"| {name} | {every:,} | {reached:,} | {requests:,} |", flush=True)
    return 0


def _try(name: str, application: Application, without_scrapy: bool, minutes: int) -> Outcome:
    say(f"{name}: installing and filling it ...")
    application.install()
    site, folder = fresh(name), FIELD / name / "crawl"
    shutil.rmtree(folder, ignore_errors=True)
    application.fill(site)
    options = application.MANNERS.options
    with running(application, site) as url:
        items = application.truth(site)
        beside = None if without_scrapy else scrapy(url, minutes)
        say(f"{name}: {len(items)} true pages; crawling ...")
        first = crawl(folder, url, *options, minutes=minutes)
        known = len(changes(folder))
        false = []
        for _ in range(QUIET):
            crawl(folder, "--again", minutes=minutes)
            known, before = len(changes(folder)), known
            false.append(known - before)
        edits = application.edit(site)
        old = changes(folder)
        crawl(folder, "--again", minutes=minutes)
        news = {written(each["url"]) for id, each in changes(folder).items() if id not in old}
        searched = _first(folder, [item for item in items if item.word and item not in edits.gone])
    reported, twice = _weigh(news, edits, application.MANNERS)
    hidden = _hidden(name, application, minutes) if isinstance(application, Hiding) else (None, None, None)
    useful = _useful(first, items, application.MANNERS)
    return Outcome(
        name, len(items), len(found_of(items, first.urls)), first.requests, first.requests - useful,
        len(found_of(items, first.held - first.urls)), false,
        len([*edits.changed, *edits.new, *edits.gone]), reported, twice, searched, *hidden,
        len(found_of(items, beside.urls)) if beside else None, beside.requests if beside else None,
    )  # fmt: skip


def _hidden(name: str, application: Application, minutes: int) -> tuple[int, int, int]:
    """How many pages a crawl with forms reaches that no link leads to."""
    site, folder = fresh(name), FIELD / name / "forms"
    shutil.rmtree(folder, ignore_errors=True)
    application.fill(site)
    assert isinstance(application, Hiding)
    items = application.hide(site)
    say(f"{name}: {len(items)} hidden pages; crawling with forms ...")
    with running(application, site) as url:
        reached = crawl(folder, url, *application.MANNERS.options, *application.MANNERS.forms, minutes=minutes)
    return len(items), len(found_of(items, reached.urls)), forms(folder)


def found_of(items: Iterable[Item], urls: Iterable[str]) -> list[Item]:
    known = frozenset(urls)
    return [item for item in items if any(written(url) in known for url in item.urls)]


def _useful(made: Crawl, items: Sequence[Item], manners: Manners) -> int:
    """Pages that show something, or lead to it."""
    lists = re.compile(manners.lists)
    true = {written(url) for item in items for url in item.urls}
    leading = [url for url in made.urls if url not in true and lists.search(_below(url))]
    return len(found_of(items, made.urls)) + len(leading)


def _weigh(news: Iterable[str], edits: Edits, manners: Manners) -> tuple[int, int]:
    """How many edits were reported, and how many pages beside them."""
    told = frozenset(news)
    true = [*edits.changed, *edits.new, *edits.gone]
    meant = {written(url) for item in true for url in item.urls}
    lists = re.compile(manners.lists)
    return len(found_of(true, told)), sum(1 for url in told - meant if not lists.search(_below(url)))


def _first(folder: Path, items: Sequence[Item]) -> int:
    step = max(1, len(items) // SEARCHED)
    asked = items[::step][:SEARCHED]
    return sum(1 for item in asked if found_of([item], finds(folder, item.word)[:1]))


def _below(url: str) -> str:
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "") + (f"#{parts.fragment}" if parts.fragment else "")


def _save(outcomes: Sequence[Outcome]) -> None:
    """Keeps what earlier runs measured of other applications."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    kept = RESULTS / "field.json"
    known = {each["name"]: each for each in json.loads(kept.read_text())} if kept.exists() else {}
    known |= {each.name: asdict(each) for each in outcomes}
    kept.write_text(json.dumps([known[name] for name in APPLICATIONS if name in known], indent=1) + "\n")


def table(outcomes: Sequence[Outcome]) -> str:
    """As Markdown."""
    lines = [
        "| application (truth) | found | requests, waste | true pages held | false changes"
        " | edits told, beside them | searched first | hidden, by forms | Scrapy found, requests |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for each in outcomes:
        waste = round(100 * each.wasted / each.requests) if each.requests else 0
        lines.append(
            f"| {each.name} ({each.truth}) | {each.found} | {each.requests:,}, {waste} % | {each.held} "
            f"| {', '.join(map(str, each.false))} | {each.reported} of {each.edits}, {each.twice} | {each.first} "
            f"| {_shown(each.reached)} of {_shown(each.hidden)} in {_shown(each.form_requests)} "
            f"| {_shown(each.scrapy_found)}, {_shown(each.scrapy_requests)} |"
        )
    return "\n".join(lines)


def _shown(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"
