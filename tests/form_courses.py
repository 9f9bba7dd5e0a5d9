"""How many records of real search applications a crawl reaches, against its queries and requests.

`python -m tests.form_courses omega --records 5000 --queries 200` crawls Xapian Omega; `datasette`
and `roundup`, too.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from sanderling.repository import form_rows as stored
from sanderling.repository.opening import reading
from tests.applications import datasette, omega, roundup
from tests.conftest import FAST, command
from tests.hidden_web import texts

APPLICATIONS = {"datasette": datasette, "roundup": roundup, "omega": omega}
# Queries by which every form is probed: with nonsense, and with nothing.
PROBES = ("nonsense", "default")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("application", choices=APPLICATIONS)
    parser.add_argument("--records", type=int, default=60)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--databases", type=int, default=1)
    options = parser.parse_args(arguments)
    queries = wasted = 0
    for seed in range(5, 5 + options.databases):
        with tempfile.TemporaryDirectory() as place:
            _crawl(options, Path(place), texts(options.records, seed, length=40))
            sent, dull = show(Path(place) / "crawl", options.records)
        queries, wasted = queries + sent, wasted + dull
    sys.stdout.write(f"all: {queries} queries, {wasted} brought nothing\n")


def _crawl(options: argparse.Namespace, place: Path, records: list[str]) -> None:
    with APPLICATIONS[options.application](place / "app", records) as url:
        limits = ("--forms", "search", "--form-queries", options.queries + len(PROBES), "--render", "never")
        crawl = command("crawl", url, "-d", place / "crawl", *FAST, "--no-index", "--clients", 1, *limits)
        subprocess.run(crawl, check=True)


def show(folder: Path, records: int) -> tuple[int, int]:
    """Prints the course of each form; returns how many queries were sent, and brought nothing."""
    with reading(folder) as (_, store):
        found = {record.form.id: record for record in stored.forms(store) if record.queries}
        answers = sorted(stored.submissions(store), key=lambda each: (each.number, each.page))
    queries = 0
    for id, record in found.items():
        reached = requests = number = 0
        course: dict[int, str] = {}
        for each in (each for each in answers if each.form == id):
            reached, requests = reached + each.new, requests + 1
            number += each.is_query and each.purpose not in PROBES
            course[number] = f"{reached / records:.1%} with {requests:,} requests"
        sys.stdout.write(f"{record.form.action}: {number} queries, {record.wasted} brought nothing, {record.reason}\n")
        for after in sorted({25, 50, 100, 200, number} & course.keys()):
            sys.stdout.write(f"  after {after:3} queries {course[after]}\n")
        queries += number
    return queries, sum(record.wasted for record in found.values())


if __name__ == "__main__":
    main(sys.argv[1:])
