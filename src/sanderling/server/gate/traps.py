"""Where a site goes on for ever without saying anything new: calendars, growing paths and queries,
endless subdomains.

No depth is too deep and no number of pages too many by itself. What counts is what visits bring.
URLs of one pattern (the URL with its numbers, ids and query values masked) may be visited while
they do: a pattern is closed after a run of visits that repeat what it has shown before, and the
longer it was worth its visits, the longer the run it is given. A link on a page with new content is
followed. Links on pages that repeat others are followed for a few steps, and as far as the host's
budget for that goes, which grows with what the host has said that was new. Hosts of one domain are
treated as the URLs of a pattern are.

What is held back stays known, with the reason, and is visited when the budget has grown, when a
page with something new links to it, or as one of the probes that a closed pattern gets now and
then. When nothing else is left it comes last: holding back is for what never ends, and pages that
differ in numbers only may well be different pages. A pattern is given up for good after hundreds of
visits that brought nothing. What a page with new content lists is visited whole unless hundreds of
it were exact copies.
"""

import re
from array import array
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from sanderling.model import NEAR_BITS

# A pattern is closed after this many visits without news, plus one for every FAITH that were
# new. Each that was new makes good for CREDIT others, so that one in eight is enough to go on.
LONGEST_RUN = 10
FAITH = 4
CREDIT = 6
# Until this many visits to a pattern were new, and half of all, no more URLs of it are queued than
# it may disappoint.
PROVEN = 12
# After this many such visits in a row it is under suspicion.
DULL_RUN = 2
# When nothing else is left to visit, a pattern gets this many visits without news. Links
# from pages that repeat others are then followed so far, and PATIENT_LINKS of them at a host.
GIVE_UP_AFTER = 300
# And this many if they were exact copies, digits and all: the empty months of a calendar.
GIVE_UP_COPIES = 30
PATIENT_LINKS = 10 * GIVE_UP_AFTER
# As many URLs of one pattern on one page are a list.
LIST = 5
# So for URLs with different names in one folder, where only the very same content is no news.
LONGEST_RUN_IN_FOLDER = 30
# A near-duplicate is neither new nor a mere repetition: it counts for so much of one.
NEAR = 0.25
# How far pages that repeat others are followed, and how many links from such pages, beside a share
# of the new pages. With half as many, a crawl of real documentation lost up to a hundredth of its
# pages.
LONGEST_WAY = 8
FIRST_LINKS = 20
SHARE = 0.1
# A closed pattern is tried again after this many new pages on its host, then after twice as many
# each time.
FIRST_PROBE = 50
# Hosts of a domain that may be tried in a row, or wait for their first visit, without anything new
# on them.
MOST_HOSTS = 6
# As many different patterns that say exactly the same raise the suspicion of an error page that
# answers 200.
SUSPICIOUS = 8

# A path grows, and does not only go deep, when this many of its folders were in it before, or
# when it has this many.
REPEATS = 2
DEEP = 12

# What is remembered: patterns of a host, contents of a pattern (and what of both is kept between
# runs), links from repeating pages, held URLs, hosts of a domain.
MOST_PATTERNS = 500
MOST_GISTS = 256
MOST_KEPT = 32
MOST_CORES = 256
MOST_SAID = 2048
MOST_RECENT = 16
MOST_WAYS = 200_000
MOST_HELD = 200_000
MOST_WAITING = 10_000

_MASK = (1 << 64) - 1
_GROWN = "/.../"
_MASKED = re.compile(r"[\d?]")
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(?:(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{8,}|(?=[A-Za-z0-9]*\d)(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{16,}"
    r"|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)(?![A-Za-z0-9])|\d+"
)


def pattern(url: str) -> str:
    """A URL with what counts up in it masked: numbers, months and ids as 0, queries by their names,
    and of a path that grows only where it begins and ends.
    """
    path, question, query = url.partition("?")
    path = path[path.find("/", path.find("://") + 3) + 1 :]
    if _grows(path):
        *folders, name = path.split("/")
        path = "/".join([*folders[:2], _GROWN.strip("/"), "" if name in folders else name])
    path = _TOKEN.sub("0", path)
    if not question:
        return "/" + path
    names = sorted({part.partition("=")[0] for part in query.split("&")})
    return f"/{path}?{'&'.join(_TOKEN.sub('0', name) for name in names)}"


def can_grow(url: str) -> bool:
    """Whether the pattern of a URL can have more than one: whether anything in it is masked."""
    start = url.find("/", 8)
    return _MASKED.search(url, start) is not None or _grows(url[start + 1 :])


def _grows(path: str) -> bool:
    if path.count("/") <= REPEATS:
        return False
    folders = path.split("/")[:-1]
    return len(folders) - len(set(folders)) >= REPEATS or len(folders) > DEEP


def folder(text: str) -> str:
    """The pattern of all that lies beside a URL, from the URL's own pattern."""
    path = text.partition("?")[0]
    return path[: path.rfind("/") + 1] + "*"


class CompactSet:
    """A set of 64-bit numbers in about three bytes each, wrong about one in a thousand that are not
    in it.
    """

    def __init__(self) -> None:
        self._exact: set[int] = set()
        self._filters: list[bytearray] = []
        self._room = 0

    def __contains__(self, number: int) -> bool:
        return number in self._exact or bool(self._filters and self._filtered(_places(number)))

    def add(self, number: int) -> bool:
        """Whether it was there already."""
        if number in self._exact:
            return True
        places = _places(number)
        if self._filtered(places):
            return True
        if not self._filters and len(self._exact) < 1024:
            self._exact.add(number)
            return False
        if not self._room:
            # 24 bits and 4 hashes a number: 1 in 1,800 in a full filter, much less on the way
            # there.
            self._room = 8192 << len(self._filters)
            self._filters.append(bytearray(self._room * 3))
        self._room -= 1
        bits, size = self._filters[-1], len(self._filters[-1]) * 8
        for place in places:
            bits[place % size >> 3] |= 1 << (place % size & 7)
        return False

    def _filtered(self, places: list[int]) -> bool:
        one, two, three, four = places
        for bits in self._filters:
            size = len(bits) * 8
            # Mostly the first says no.
            if (
                bits[one % size >> 3] >> (one % size & 7) & 1
                and bits[two % size >> 3] >> (two % size & 7) & 1
                and bits[three % size >> 3] >> (three % size & 7) & 1
                and bits[four % size >> 3] >> (four % size & 7) & 1
            ):
                return True
        return False


def _places(number: int) -> list[int]:
    return [number & _MASK, number >> 13 & _MASK, number >> 27 & _MASK, number >> 41 & _MASK]


class Pattern(msgspec.Struct, array_like=True):
    """What visits to the URLs of one pattern brought."""

    text: str
    tried: int = 0
    new: int = 0
    run: float = 0.0  # visits without anything new, less CREDIT for each that brought something
    closed: bool = False
    probe_at: int = 0  # when the host has shown so much that is new
    patience: int = FIRST_PROBE
    pending: int = 0  # admitted and not visited
    gists: set[int] = set()
    recent: list[int] = []
    resumed: bool = False  # it is older than this run, and not all of its contents were kept
    sampled: int = 0  # how many URLs were held back when a sample of them was taken last
    barren: int = 0  # as `run`, with near-duplicates as whole visits
    copies: int = 0  # visits to exact copies, less CREDIT for each that was none
    patient: bool = False  # nothing else was left to visit: it goes on for GIVE_UP_AFTER

    def judge(self, gist: int, simhash: int, seen_before: bool, repeats: bool = False, copy: bool = False) -> float:
        """How new a page is among those of its pattern: 1 for new, NEAR for a near-duplicate, 0 for
        the same, or for one that `repeats` parts of others. A `copy` is exactly the same as another
        page.
        """
        self.copies = self.copies + 1 if copy else max(0, self.copies - CREDIT)
        newness = self._judge(gist, simhash, seen_before, repeats)
        self.barren = self.barren + 1 if newness < 1.0 else max(0, self.barren - CREDIT)
        return newness

    def _judge(self, gist: int, simhash: int, seen_before: bool, repeats: bool) -> float:
        self.tried += 1
        self.pending = max(0, self.pending - 1)
        full = len(self.gists) >= MOST_GISTS
        # Of many contents, and of those of an earlier run, only the host remembers all.
        if repeats or gist in self.gists or ((full or self.resumed) and seen_before and not self.is_folder):
            self.run += 1
            return 0.0
        if not full:
            self.gists.add(gist)
        near = (
            simhash != 0
            and not self.is_folder
            and any(((simhash ^ one) & _MASK).bit_count() <= NEAR_BITS for one in self.recent)
        )
        self.recent.append(simhash)
        del self.recent[:-MOST_RECENT]
        if near:
            self.run += NEAR
            return NEAR
        self.new += 1
        self.run = max(0.0, self.run - CREDIT)
        return 1.0

    @property
    def exhausted(self) -> bool:
        if self.patient:
            return self.barren > GIVE_UP_AFTER + self.new / FAITH or self.copies > GIVE_UP_COPIES
        return self.run > self._longest + self.new / FAITH

    @property
    def hopeless(self) -> bool:
        """Whether not even the URLs on a list are worth a visit."""
        return self.copies > GIVE_UP_AFTER

    def probed(self, new: int) -> None:
        """It was closed and got another try; the next is later."""
        self.patience *= 2
        self.probe_at = new + self.patience

    @property
    def room(self) -> int:
        """How many more of its URLs may be queued now."""
        if self.proven:
            return MOST_HELD
        if self.patient:
            left = min(GIVE_UP_AFTER + self.new / FAITH - self.barren, GIVE_UP_COPIES - self.copies)
            return max(0, int(left - self.pending) + 1)
        return max(0, int(self._longest + self.new / FAITH - self.run - self.pending) + 1)

    @property
    def proven(self) -> bool:
        return self.new >= PROVEN and self.new * 2 >= self.tried

    @property
    def _longest(self) -> int:
        return LONGEST_RUN_IN_FOLDER if self.is_folder else LONGEST_RUN

    @property
    def is_folder(self) -> bool:
        return self.text.endswith("/*")


class KeptTraps(msgspec.Struct, array_like=True):
    """What is kept of a host between two runs."""

    new: int = 0
    spent: float = 0.0
    patterns: list[Pattern] = []
    soft: list[int] = []
    said: bytes = b""  # the last contents, 32 bits of each
    front: list[int] = []
    ways: dict[int, float] = {}  # of the URLs that are to be visited, see `Ways`
    patient: bool = False
    barren: int = 0


class PageNews(NamedTuple):
    """What a visit means."""

    newness: float
    soft: bool  # an error page that answers 200
    copy: bool = False  # exactly the text of another page of the host
    opened: tuple[str, ...] = ()  # patterns that changed with it
    closed: tuple[str, ...] = ()


class HostBudget:
    """The patterns of one host and what it may still spend on pages that repeat others."""

    def __init__(self, kept: KeptTraps) -> None:
        self.new = kept.new
        self.spent = kept.spent
        self.patient = kept.patient  # nothing else was left to visit than links on pages that repeat others
        self.barren = kept.barren  # visits that brought nothing new
        self.patterns = {each.text: each for each in kept.patterns}
        self.closed = {each.text for each in kept.patterns if each.closed}
        self.soft = set(kept.soft)
        self.front = set(kept.front)  # what its front page says, which is no error page even if it answers everything
        self.dull: set[str] = set()  # patterns whose pages have begun to repeat each other
        self.suspect = 0  # a content that looks like an error page and was not compared with one
        self.held = 0
        self._seen = CompactSet()
        self._texts = CompactSet()
        self._before = frozenset(array("I", kept.said))  # contents of earlier runs
        self._said = array("I", kept.said)
        self._cores: dict[int, None] = {}  # of the last pages
        self._repeated: dict[int, set[str]] = {}

    def keep(self, ways: dict[int, float]) -> KeptTraps:
        # First what is closed, then what comes nearest to it.
        telling = sorted(self.patterns.values(), key=lambda each: (each.closed, each.run, each.tried), reverse=True)
        patterns = [
            msgspec.structs.replace(
                each,
                gists=set(sorted(each.gists)[:MOST_KEPT]),
                resumed=each.resumed or len(each.gists) > MOST_KEPT,
            )
            for each in telling[:MOST_KEPT]
        ]
        said = self._said[-MOST_SAID:].tobytes()
        soft, front = sorted(self.soft), sorted(self.front)
        return KeptTraps(self.new, self.spent, patterns, soft, said, front, ways, self.patient, self.barren)

    def judge(
        self, url: str, gist: int, simhash: int, core: int = 0, repeats: bool = False, exact: int = 0
    ) -> PageNews:
        """Counts a page that was visited; `core` is its gist without the words of its URL, `exact`
        a number of its text with all digits and words.

        A page that `repeats` parts of others says nothing about what lies beside it.
        """
        core = core or gist
        text = pattern(url)
        seen_before = self._saw(gist)
        copy = self._texts.add(exact or gist)
        # A pattern that masks nothing has one URL; its folder is all there is to learn about.
        both = [self.find(folder(text))]
        newness = both[0].judge(gist, simhash, seen_before, copy=copy)
        if _MASKED.search(text) or _GROWN in text:
            both.append(self.find(text))
            newness = min(newness, both[1].judge(core, simhash, seen_before, repeats, copy))
        soft = core in self.soft
        if seen_before or soft:
            newness = 0.0
        self.meet(url, core)
        if newness == 1.0:
            self.new += 1
        else:
            self.barren += 1
        closed = tuple(each.text for each in both if each.exhausted and not each.closed)
        opened = tuple(each.text for each in both if each.closed and not each.exhausted)
        for each in both:
            (self.dull.add if each.run > DULL_RUN else self.dull.discard)(each.text)
            if each.closed != each.exhausted:
                each.closed = each.exhausted
                each.probe_at = self.new + each.patience
        self.closed.update(closed)
        self.closed.difference_update(opened)
        return PageNews(newness, soft, copy, opened, closed)

    def _saw(self, gist: int) -> bool:
        """Whether the host has said that before, in this run or an earlier one."""
        short = gist & 0xFFFF_FFFF
        if self._seen.add(gist) or short in self._before:
            return True
        self._said.append(short)
        if len(self._said) >= 2 * MOST_SAID:
            del self._said[:MOST_SAID]
        return False

    def meet(self, url: str, core: int) -> None:
        """Remembers what a page says without the words of its URL: many that say the same may say
        that they are not.
        """
        if core in self._cores:
            self._suspect(core, pattern(url))
        elif core:
            self._cores[core] = None
            if len(self._cores) > MOST_CORES:
                del self._cores[next(iter(self._cores))]

    def welcomed(self, core: int) -> None:
        """Takes note of what the front page says."""
        if len(self.front) < MOST_RECENT:
            self.front.add(core)
            self.soft.discard(core)

    def turned_away(self, core: int) -> None:
        """Takes note of what is said of an address that does not exist."""
        if core not in self.front:
            self.soft.add(core)

    def objection(self, url: str) -> str:
        """The closed pattern that a URL belongs to, if any."""
        if not self.closed:
            return ""
        text = pattern(url)
        if text in self.closed:
            return text
        beside = folder(text)
        return beside if beside in self.closed else ""

    def admits(self, url: str) -> str:
        """Counts a URL as queued; the pattern when there are enough of it until some are
        visited.
        """
        if not can_grow(url):
            return ""
        found = self.find(pattern(url))
        if not found.room:
            return found.text
        found.pending += 1
        return ""

    def lists(self, url: str) -> str:
        """The pattern of a URL that may be one of a list; empty when it is none, or needs no
        list.
        """
        if not can_grow(url):
            return ""
        found = self.patterns.get(text := pattern(url))
        return "" if found is not None and found.proven and not found.closed else text

    def be_patient(self, texts: Iterable[str]) -> None:
        """Nothing else is left to visit: patterns go on until hundreds of visits brought nothing,
        as far as the host has not had thousands of these.
        """
        most = max(0, PATIENT_LINKS + self.new - self.barren) // GIVE_UP_AFTER
        waiting = [found for text in texts if not (found := self.find(text)).patient]
        for found in sorted(waiting, key=lambda each: each.barren)[:most]:
            found.patient = True
            found.closed = found.exhausted
            if not found.closed:
                self.closed.discard(found.text)

    def missed(self, url: str) -> None:
        """A URL was queued and brought no page."""
        found = self.patterns.get(pattern(url))
        if found is not None:
            found.pending = max(0, found.pending - 1)

    def find(self, text: str) -> Pattern:
        found = self.patterns.get(text)
        if found is None:
            found = self.patterns[text] = Pattern(text)
            if len(self.patterns) > MOST_PATTERNS:
                self._forget_one()
        return found

    @property
    def allowance(self) -> int:
        """How many more links from pages that repeat others may be followed now."""
        first = PATIENT_LINKS if self.patient else FIRST_LINKS
        return max(0, int(first + self.new * SHARE - self.spent))

    @property
    def longest_way(self) -> int:
        return GIVE_UP_AFTER if self.patient else LONGEST_WAY

    def _suspect(self, gist: int, text: str) -> None:
        """Many addresses with nothing in common that say the same: perhaps that there is no such
        page.
        """
        if gist in self.soft or len(self._repeated) > MOST_GISTS:
            return
        where = self._repeated.setdefault(gist, set())
        if len(where) <= SUSPICIOUS:
            where.add(text)
            if len(where) == SUSPICIOUS:
                self.suspect = gist

    def _forget_one(self) -> None:
        """The oldest goes, if nothing depends on it; else it gets another turn."""
        for _ in range(8):
            text = next(iter(self.patterns))
            oldest = self.patterns.pop(text)
            if not oldest.closed and not oldest.pending:
                self.dull.discard(text)
                return
            self.patterns[text] = oldest
        self.closed.discard(text)
        self.dull.discard(text)
        del self.patterns[text]


class KeptDomain(msgspec.Struct, array_like=True):
    """What is kept of a domain between two runs."""

    run: int = 0
    yielded: int = 0
    pending: list[int] = []
    tried: dict[int, bool] = {}  # the last hosts, and whether each brought something new
    said: list[int] = []
    recent: list[int] = []


class DomainBudget:
    """The hosts of one domain, tried one after the other."""

    def __init__(self, kept: KeptDomain) -> None:
        self.run = kept.run
        self.yielded = kept.yielded
        self.pending = set(kept.pending)
        self.waiting: dict[int, None] = {}
        self._tried = dict(kept.tried)
        self._seen = CompactSet()
        self._said = [gist for gist in kept.said if not self._seen.add(gist)]
        self._recent = list(kept.recent)

    def keep(self) -> KeptDomain | None:
        """What later runs have to know; None while there is nothing to be suspicious of."""
        if self.run < DULL_RUN:
            return None
        tried = dict(list(self._tried.items())[-MOST_CORES:])
        return KeptDomain(self.run, self.yielded, sorted(self.pending)[:MOST_CORES], tried, self._said, self._recent)

    def admits(self, host: int) -> bool:
        """Whether a host may be visited; it then counts as pending."""
        if host in self._tried or host in self.pending:
            return True
        if host in self.waiting or self.run + len(self.pending) >= MOST_HOSTS + self.yielded:
            if len(self.waiting) < MOST_WAITING:
                self.waiting[host] = None
            return False
        self.pending.add(host)
        return True

    def judge(self, host: int, gist: int, simhash: int) -> None:
        """Counts a visit on a host; no gist for one that brought no page."""
        self.pending.discard(host)
        if host not in self._tried:
            self._tried[host] = False
            self.run += 1
            if len(self._tried) > MOST_WAITING:
                del self._tried[next(iter(self._tried))]
        if not gist or self._seen.add(gist):
            return
        self._said = [*self._said[1 - MOST_KEPT :], gist]
        if self._tried[host]:
            return
        if any(((simhash ^ one) & _MASK).bit_count() <= NEAR_BITS for one in self._recent):
            return
        self._recent.append(simhash)
        del self._recent[:-MOST_RECENT]
        self._tried[host] = True
        self.yielded += 1
        self.run = 0

    def gave_up(self, host: int) -> None:
        """A host could not be reached: that says nothing about the others, and another may be tried
        in its place.
        """
        self.pending.discard(host)

    def released(self) -> list[int]:
        """Waiting hosts that may be visited now."""
        room = MOST_HOSTS + self.yielded - self.run - len(self.pending)
        chosen = [host for host, _ in zip(self.waiting, range(max(0, room)), strict=False)]
        for host in chosen:
            del self.waiting[host]
            self.pending.add(host)
        return chosen


class Ways:
    """For URLs found on pages that repeat others: how many such pages lead to them in a row."""

    def __init__(self) -> None:
        self._hosts: dict[int, dict[int, float]] = {}
        self._count = 0

    def beyond(self, host: int, page: int, newness: float) -> float:
        """How far the links of a page are from something new; 0 for those on a page that is new."""
        steps = self._hosts.get(host, {})
        self._count -= page in steps
        before = steps.pop(page, 0.0)
        return 0.0 if newness == 1.0 else before + 1.0 - newness

    def of(self, host: int, page: int) -> float:
        return self._hosts.get(host, {}).get(page, 0.0)

    def note(self, host: int, urls: Iterable[int], steps: float) -> None:
        if steps and self._count < MOST_WAYS:
            self.restore(host, dict.fromkeys(urls, steps))

    def restore(self, host: int, steps: dict[int, float]) -> None:
        if steps:
            known = self._hosts.setdefault(host, {})
            self._count += len(steps.keys() - known.keys())
            known |= steps

    def to_keep(self, host: int) -> dict[int, float]:
        """Those of a host, the last ones if there are many."""
        return dict(list(self._hosts.get(host, {}).items())[-MOST_SAID:])
