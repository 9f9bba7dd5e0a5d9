"""docs/papers.md: every item of the five documents is there once, and all that it names exists."""

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lab import EXPERIMENTS, experiment_parser
from sanderling.cli import COMMANDS, parser
from sanderling.settings import DECLARED

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "papers.md"
ITEMS = {"000": 56, "001": 29, "002": 46, "003": 53, "004": 59}
KINDS = ("as asked", "Otherwise", "Partly", "Not software")


class Row(NamedTuple):
    items: list[str]
    where: str
    how: str
    kind: str


def rows() -> Iterator[Row]:
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if re.match(r"\d{3}-", cells[0]):
            items, asked, where, how, otherwise = cells
            assert asked, line
            kind = otherwise.partition(":")[0] or "as asked"
            assert kind in KINDS, line
            assert kind == "Not software" or (where and how), line
            yield Row(list(expanded(items)), where, how, kind)


def expanded(items: str) -> Iterator[str]:
    """The items of `000-01, 03 to 05`."""
    document, _, rest = items.partition("-")
    for part in rest.split(", "):
        first, _, last = part.partition(" to ")
        yield from (f"{document}-{number:02}" for number in range(int(first), int(last or first) + 1))


def test_every_item_is_there_once() -> None:
    found = Counter(item for row in rows() for item in row.items)
    wanted = {f"{document}-{number:02}" for document, most in ITEMS.items() for number in range(1, most + 1)}
    assert set(found) == wanted and set(found.values()) == {1}


def test_the_counts_are_right() -> None:
    text = PAGE.read_text()
    for document, most in ITEMS.items():
        kinds = Counter(row.kind for row in rows() for item in row.items if item.startswith(document))
        counts = " | ".join(str(kinds[kind]) for kind in KINDS)
        assert re.search(rf"^\| {document} \| .* \| {most} \| {re.escape(counts)} \|$", text, re.MULTILINE), counts


def test_every_place_exists() -> None:
    wrong = [f"{row.items[0]}: {each}" for row in rows() for cell in (row.where, row.how) for each in missing(cell)]
    assert not wrong, "\n".join(wrong)


def missing(cell: str) -> Iterator[str]:
    """What a cell names and does not exist. A word belongs to what stands before it: a name to its
    file, an option to its command."""
    before, options = "", frozenset[str]()
    for words, named, target in re.findall(r"([^`\[]*)(?:`([^`]+)`|\[[^]]*\]\(([^)]+)\))", cell):
        if target:
            yield from [] if leads_somewhere(target) else [target]
        elif "setting" in words or (before == "setting" and words == ", "):
            before = "setting"
            yield from [] if named in {each.name for each in DECLARED} else [named]
        elif named.startswith(("sanderling ", "python -m bench ")):
            program, *given = named.removeprefix("python -m ").split()
            options = options_of(program, *given[: 2 if given[0] == "lab" else 1])
            wanted = [each for number, each in enumerate(given) if number < 2 or each.startswith("--")]
            yield from (f"{named}: {each}" for each in wanted if each not in options)
        elif named.startswith("--"):
            yield from [] if named in options else [named]
        elif re.search(r"\.(?:py|md|sh)$", named):
            before = text_of(named)
            yield from [] if before else [named]
        else:
            defined = rf"^\s*(?:class|def|async def) {named}\b|^{named}\b.* = "
            yield from [] if re.search(defined, before, re.MULTILINE) else [named]


@cache
def text_of(path: str) -> str:
    for base in (ROOT / "src" / "sanderling", ROOT / "src", ROOT):
        if (base / path).is_file():
            return (base / path).read_text() or " "
    return ""


@cache
def options_of(program: str, command: str, experiment: str = "") -> frozenset[str]:
    """The words that a command takes, itself included; none when there is no such command."""
    if program == "bench":
        return frozenset(re.findall(r'"([a-z-]+)"', text_of("bench/__main__.py")))
    if command == "lab":
        found = every_option(experiment_parser(experiment)) if experiment in EXPERIMENTS else frozenset()
        return found | {"lab", experiment} if found else found
    return every_option(parser(command)) if command in COMMANDS else frozenset()


def every_option(top: argparse.ArgumentParser) -> frozenset[str]:
    """Those of a parser and of the commands below it, with the names of these."""
    found: set[str] = set()
    for action in top._actions:
        found |= set(action.option_strings)
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                found |= {name, *every_option(below)}
    return frozenset(found)


def leads_somewhere(target: str) -> bool:
    page, _, section = target.partition("#")
    path = PAGE.parent / page
    if not path.is_file():
        return False
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return not section or section in {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}
