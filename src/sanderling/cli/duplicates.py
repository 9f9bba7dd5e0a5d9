"""`sanderling duplicates`: pages that say nearly the same, and hosts that are mirrors of each
other."""

import argparse
import sys
from collections import Counter

import msgspec

from sanderling.cli.folders import add_folder
from sanderling.cli.output import write_json
from sanderling.presenting.screen import harmless, many
from sanderling.repository.duplicates import groups, mirrors
from sanderling.repository.opening import reading
from sanderling.repository.store import DuplicateStore
from sanderling.urls import origin


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "duplicates",
        description="Lists groups of pages whose texts are nearly the same, and hosts that mirror each other.",
    )
    add_folder(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with reading(options.dir) as (_, store):
        found = named_groups(store)
        sizes = Counter(origin(store_url) for store_url in _page_urls(store))
    twins = mirrors(found, sizes)
    for one, two, count in twins:
        if options.json:
            _say_json({"mirrors": [one, two], "pages": count})
        else:
            sys.stdout.write(f"{harmless(one)} and {harmless(two)} have {many(count, 'page')} in common\n")
    for group in found:
        if options.json:
            _say_json({"near": group})
        else:
            sys.stdout.write(f"{len(group):,} pages have nearly the same text\n")
            sys.stdout.write("".join(f"  {harmless(url)}\n" for url in group))
    return 0


def named_groups(store: DuplicateStore) -> list[list[str]]:
    """The groups of near-duplicates by URL, the oldest page of each first."""
    found = groups(store.simhashes())
    texts = store.known([id for group in found for id in group])
    return [[texts[id][0] for id in group if id in texts] for group in found]


def _page_urls(store: DuplicateStore) -> list[str]:
    ids = [id for id, _, _ in store.simhashes()]
    return [url for url, _ in store.known(ids).values()]


def _say_json(table: dict[str, object]) -> None:
    write_json(msgspec.json.encode(table))
