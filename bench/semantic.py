"""Search by words and by meaning: who finds the right page for a question with a known answer.

The pages are the long descriptions of packages of Debian, without their names; the questions are
the short descriptions of some of them. Other people wrote both, so that they share few words.
"""

from __future__ import annotations

import random
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench.places import BenchError, say, working_folder

_FEWEST_WORDS = 30
_DEEPEST = 10


class Described(NamedTuple):
    name: str
    short: str
    long: str


def report(pages: int, questions: int) -> int:
    from sanderling.search.query import Query
    from sanderling.search.searching import open_search
    from sanderling.search.semantic import any_word

    packages = described(pages)
    asked = random.Random(7).sample(packages, min(questions, len(packages)))
    with (
        tempfile.TemporaryDirectory(dir=working_folder()) as place,
        open_search(_filled(Path(place), packages)) as search,
    ):
        search.catch_up()
        began = time.process_time()
        search.catch_up_meaning()
        print(f"{len(packages):,} pages read for their meaning in {time.process_time() - began:.1f} s of a core")
        print(f"{'search':24} {'first':>6} {'in ten':>7} {'MRR':>6} {'median ms':>10}")
        for name, make in (
            ("all words", lambda text: Query(text=text)),
            ("any word", lambda text: Query(text=any_word(text))),
            ("words and meaning", lambda text: Query(text=text, semantic=True)),
        ):
            ranks, took = list[int](), list[float]()
            for each in asked:
                found = search.find(make(_plain(each.short)))
                urls = [hit.url.rpartition("/")[2] for hit in found.hits[:_DEEPEST]]
                ranks.append(urls.index(each.name) + 1 if each.name in urls else 0)
                took.append(found.took_ms)
            hits, first = sum(map(bool, ranks)), ranks.count(1)
            mean = sum(1 / rank for rank in ranks if rank) / len(ranks)
            share = len(ranks)
            print(f"{name:24} {first / share:6.1%} {hits / share:7.1%} {mean:6.3f} {statistics.median(took):10.1f}")
    return 0


def described(most: int) -> list[Described]:
    """Packages whose long description says something, those of other names for the same one left
    out."""
    if not (lists := _lists()):
        subprocess.run(["apt-get", "update", "-qq", "-o", "Acquire::Languages=en"], capture_output=True)
        lists = _lists()
    if not lists:
        raise BenchError(
            "The questions are descriptions of Debian's packages: `apt-get update -o Acquire::Languages=en`"
        )
    said = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", *lists], capture_output=True, text=True).stdout
    found = dict[str, Described]()
    for entry in said.split("\n\n"):
        fields = dict(re.findall(r"(?m)^(Package|Description-en): (.*(?:\n .*)*)", entry))
        short, _, rest = fields.get("Description-en", "").partition("\n")
        long = " ".join(line.strip() for line in rest.splitlines() if line.strip() != ".")
        if len(long.split()) >= _FEWEST_WORDS and len(short.split()) >= 3:
            found.setdefault(long[:200], Described(fields["Package"], short, long.replace(fields["Package"], "it")))
    chosen = sorted(found.values())
    random.Random(3).shuffle(chosen)
    return chosen[:most]


def _lists() -> list[str]:
    return [str(each) for each in Path("/var/lib/apt/lists").glob("*Translation-en*")]


def _filled(place: Path, packages: list[Described]) -> object:
    from sanderling.repository.folder import Folder
    from tests.search_library import Library

    say(f"storing {len(packages):,} pages ...")
    library = Library(place / "crawl")
    for each in packages:
        library.page(f"http://packages/{each.name}", each.long, title="A package")
    library.close()
    return Folder(place / "crawl")


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))
