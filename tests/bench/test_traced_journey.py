"""The journey of a page, as a traced crawl shows it, stays short."""

import re
from pathlib import Path

from bench.journey import changes_of_room, journey

# A little above what was counted last (76 and 18). Lower them when the journey gets shorter.
MOST_HOPS, MOST_CHANGES = 78, 20


def test_the_journey_of_a_page_stays_short() -> None:
    found = journey()
    assert len(found) <= MOST_HOPS and changes_of_room(found) <= MOST_CHANGES
    text = " ".join((Path(__file__).parents[2] / "ARCHITECTURE.md").read_text().split())
    told = re.search(r"These are (\d+) hops with (\d+) changes of room", text)
    assert told and abs(int(told[1]) - len(found)) <= 3 and abs(int(told[2]) - changes_of_room(found)) <= 3
