"""The journey in ARCHITECTURE.md is what a traced crawl does, and it stays short."""

import re
from pathlib import Path

from bench.journey import changes_of_room, journey

# A little above what was counted last (75 and 20). Lower them when the journey gets shorter.
MOST_HOPS, MOST_CHANGES = 78, 22
# When more hops than these are missing in the table, it has to be made again.
MOST_UNTOLD = 3


def test_the_journey_of_a_page_is_as_it_is_told() -> None:
    text = (Path(__file__).parents[2] / "ARCHITECTURE.md").read_text()
    told = re.findall(r"^\| (\d+) \| `([\w/]+\.py)` \| `(\w+)` \|", text, re.MULTILINE)
    assert [int(number) for number, _, _ in told] == list(range(1, len(told) + 1))
    found = journey()
    again = "`python -m bench journey` prints the table for ARCHITECTURE.md"
    calls = {(hop.file, hop.name) for hop in found}
    assert {(file, name) for _, file, name in told} <= calls, again
    assert len(calls.difference((file, name) for _, file, name in told)) <= MOST_UNTOLD, again
    assert len(found) <= MOST_HOPS and changes_of_room(found) <= MOST_CHANGES
