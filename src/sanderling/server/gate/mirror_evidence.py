"""What speaks for and against a host being a mirror of another.

Nearly the same text has to be at the same path of both, on several pages that differ from each
other and on most of those that could be compared. A parked page or an error page is one content. A
text that is only alike counts once for all that look like it, so that a shared template proves
little. A page that the other host does not have, or has in another language, speaks against it.
"""

from array import array
from heapq import heappush, heapreplace

import msgspec

from sanderling.model import NEAR_BITS, PageFacts

# Different contents that both hosts have, and their share of the pages that could be compared.
CONTENTS = 12
SHARE = 0.9
# The share of pages that only one host is known to have: the other may be visited more slowly.
MOST_MISSING = 0.25
# After this many pages without proof the hosts count as different.
MOST_COMPARED = 64
# Two pages of a mirror that differ release it, unless two in between agree.
RELEASED, COMFORT = 2.0, 0.5
# So does what only the mirror has, if it is more than this, and more than a tenth of what is held.
FEW_OWN = 2

# The mirror is asked for the page with this number that the other host gets after the proof, then
# for the one as many later, and a quarter of all: 6 of 100, 25 of 10,000.
FIRST_PROBE = 8

# Pages that are remembered of a host, and entries in the table of all hosts: 4 MB, four a page.
SKETCH = 32
SLOTS = 1 << 19

_MASK = (1 << 64) - 1
_ODD = 0x9E3779B97F4A7C15
_LOW = (1 << 24) - 1

Sketch = list[tuple[int, int]]  # negative path hash and simhash of the pages with the smallest path hashes, a heap


class MirrorPair(msgspec.Struct, array_like=True):
    """A host, the one that it may be a mirror of, and what is known about the two."""

    original: str = ""
    proven: bool = False
    # By pages of the original: the content that both have, 0 where they differ; and its simhash.
    compared: dict[int, tuple[int, int]] = {}
    missing: set[int] = set()  # pages that the original was not known to have
    doubt: float = 0.0
    own: int = 0  # pages that only the mirror has
    held: int = 0
    sampled: int = 0  # how many URLs were held back when a sample of them was taken last
    passed: int = 0  # URLs that the original got since it was proven
    probe_at: int = 0  # the mirror is asked for the one with this number
    apart: list[str] = []  # hosts that it is no mirror of
    releasing: str = ""  # the host that it was a mirror of, while URLs of it are still held back

    @property
    def contents(self) -> int:
        """How many different contents both hosts have."""
        return len({content for content, _ in self.compared.values() if content})

    def compare(self, page: int, copy: PageFacts, original: PageFacts) -> bool:
        """Takes a page of both hosts as evidence; whether it speaks for a mirror."""
        self.missing.discard(page)
        self.compared.pop(page, None)
        content = 0
        if copy.text_digest == original.text_digest and alike(copy, original):
            content = int.from_bytes(original.text_digest[:8], "big")
        elif alike(copy, original) and not any(near(original.simhash, each) for _, each in self.compared.values()):
            content = original.simhash & _MASK
        self._note(page, content, original.simhash)
        return content != 0

    def differ_in(self, copy: Sketch, original: Sketch) -> None:
        """Takes the pages as evidence that both hosts remember and that differ."""
        there = dict(original)
        for path, simhash in copy:
            if path in there and not near(simhash, there[path]):
                self._note(path, 0, there[path])

    def _note(self, page: int, content: int, simhash: int) -> None:
        self.compared[page] = (content, simhash)
        if len(self.compared) > MOST_COMPARED:
            del self.compared[next(iter(self.compared))]

    def lacks(self, page: int) -> None:
        """The original does not have a page, or is not known to."""
        if page not in self.compared and len(self.missing) < MOST_COMPARED:
            self.missing.add(page)

    @property
    def decisive(self) -> bool:
        """Whether there is enough to decide by."""
        return self.contents >= CONTENTS or self.exhausted

    @property
    def exhausted(self) -> bool:
        """Whether so much was compared that there is no use in going on."""
        return len(self.missing) >= MOST_COMPARED or (len(self.compared) >= MOST_COMPARED and not self._agree)

    @property
    def convincing(self) -> bool:
        """Whether the evidence proves that the host is a mirror."""
        few = len(self.missing) <= MOST_MISSING * (len(self.compared) + len(self.missing))
        return self.contents >= CONTENTS and self._agree and few

    @property
    def _agree(self) -> bool:
        return sum(content != 0 for content, _ in self.compared.values()) >= SHARE * len(self.compared)

    @property
    def refuted(self) -> bool:
        """Whether a mirror has turned out to be none."""
        return self.doubt >= RELEASED or self.own > max(FEW_OWN, self.held // 10)

    def is_probed_next(self) -> bool:
        """Counts a URL of the original; whether the mirror is asked for the same path."""
        self.passed += 1
        if self.passed < self.probe_at:
            return False
        self.probe_at = self.passed + FIRST_PROBE + self.passed // 4
        return True

    def part(self) -> None:
        """Gives up the thought that it is a mirror of that host."""
        self.apart = [*self.apart[-7:], self.original]
        self.original, self.proven, self.compared, self.missing = "", False, {}, set()
        self.doubt, self.own, self.held, self.sampled, self.passed = 0.0, 0, 0, 0, 0


class KeptMirror(msgspec.Struct, array_like=True):
    """What is kept of a host between two runs."""

    pair: MirrorPair | None = None
    sketch: Sketch = []


def near(one: int, two: int) -> bool:
    return ((one ^ two) & _MASK).bit_count() <= NEAR_BITS


def alike(one: PageFacts, two: PageFacts) -> bool:
    """Whether two pages have nearly the same text, in one language as far as that is known."""
    if one.language and two.language and _main(one.language) != _main(two.language):
        return False
    return one.text_digest == two.text_digest or near(one.simhash, two.simhash)


def _main(language: str) -> str:
    return language.replace("_", "-").partition("-")[0].lower()


def remember(sketch: Sketch, path: int, simhash: int) -> bool:
    """Adds a page to the sketch of its host; whether it is one of those that are remembered."""
    if len(sketch) < SKETCH:
        heappush(sketch, (-path, simhash))
        return True
    if -path <= sketch[0][0]:
        return False
    heapreplace(sketch, (-path, simhash))
    return True


class SampleTable:
    """Which host showed a text at a path. Its size is fixed, so it forgets.

    Of two simhashes that differ in three bits at least one quarter is equal, so each page has four
    entries.
    """

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * SLOTS))
        self._homes: list[str] = []
        self._numbers: dict[str, int] = {}

    def meet(self, home: str, path: int, simhash: int) -> list[str]:
        """Remembers a page of a host; returns hosts that may have shown the same before it."""
        number = self._numbers.get(home)
        if number is None:
            self._homes.append(home)
            number = self._numbers[home] = len(self._homes)
        found: list[str] = []
        for quarter in range(4):
            block = simhash >> 16 * quarter & 0xFFFF
            key = (path ^ (block << 2 | quarter) * _ODD) * _ODD & _MASK
            slot = key >> 45
            entry = self._slots[slot]
            if entry ^ key << 24 & _MASK > _LOW or not entry & _LOW:
                self._slots[slot] = key << 24 & _MASK | number & _LOW
            elif entry & _LOW != number:
                found.append(self._homes[(entry & _LOW) - 1])
        return found
