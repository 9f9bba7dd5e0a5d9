"""The states of a page that events lead to, breadth-first and within budgets.

A state is what the page says: its blocks of text and the targets of its links. An event that only
adds to them makes the page grow, and it is repeated until nothing more comes. Any other change is a
new state if it shows a block that no state showed before: a third tab beside the second page of a
list is a combination of what is known, and such combinations would never end.

What changes without an event, such as a clock, is found by watching the page before any, and does
not count. A page may still change by itself while an event is tried. So when an event leads to a
small change for the first time, it is tried once more on a page that was loaded again, and has to
show some of the same.

Events with the same handler, kind of element, text and target usually do the same. So their key is
tried in one state after the other, and given up when two tries in a row brought nothing new.
"""

import time
from collections import Counter, deque
from typing import NamedTuple, Protocol

from sanderling.browser.event_path import Path, Step, then
from sanderling.browser.events import EventCandidate

# A key is given up after this many tries in a row that brought nothing new.
FRUITLESS = 2
# An event is repeated at most so often on a page that grows with it.
MOST_REPEATS = 2_000
# A change of so few blocks may have come by itself.
SMALL = 2


class Seen(NamedTuple):
    """What a page says after an event."""

    hash: str
    gained: int  # blocks, since the call before
    lost: int
    fresh: frozenset[int]  # what these blocks are
    url: str

    @property
    def grew(self) -> bool:
        return self.gained > 0 and not self.lost

    @property
    def says_the_same(self) -> bool:
        """Only what does not count differs, such as a counter."""
        return not (self.gained or self.lost or self.fresh)


class StatefulPage(Protocol):
    """A loaded page on which events can be triggered."""

    async def look(self) -> Seen:
        """What it says now, compared with the last look."""

    async def watch(self) -> None:
        """Finds out what changes without an event. It is no part any more of what the page says."""

    async def look_again(self) -> Seen:
        """The same after more patience: nothing came yet where more was expected."""

    async def candidates(self) -> list[EventCandidate]: ...

    async def trigger(self, step: Step) -> bool:
        """Triggers an event and waits until the page has settled. False if its element is not
        there."""

    async def read(self) -> bytes:
        """Its HTML."""

    async def picture(self) -> bytes:
        """A screenshot, empty if there is none. It may make the page change."""

    async def load(self) -> None:
        """Loads it again from the beginning."""


class StateFound(NamedTuple):
    """One state and the way to it."""

    path: Path
    html: bytes
    url: str  # the address that the page gave itself
    label: str  # the text of the element whose event led here
    screenshot: bytes


class ExploringBudget(NamedTuple):
    """How many states, how many events one after the other, and until when."""

    states: int
    depth: int
    until: float

    def is_over(self, found: int) -> bool:
        return found >= self.states or time.monotonic() >= self.until


class _Node:
    """A state while its events are tried."""

    __slots__ = ("depth", "events", "html", "label", "path", "screenshot", "tried", "url")

    def __init__(self, path: Path, depth: int, url: str, label: str, html: bytes) -> None:
        self.path, self.depth, self.url, self.label, self.html = path, depth, url, label, html
        self.screenshot = b""
        self.events: list[EventCandidate] | None = None  # None before the first look
        self.tried: set[Step] = set()


class Explorer:
    """Explores one page. `page` has loaded and settled."""

    def __init__(
        self,
        page: StatefulPage,
        html: bytes,
        budget: ExploringBudget,
        combine: bool = True,
        start: Path = (),
        pictures: bool = False,
    ) -> None:
        """`html` is the page as it is now, and `start` how it got there from its document.

        With `combine` off, every event is triggered in every state. With `pictures`, states get
        screenshots.
        """
        self._root = _Node(start, 0, "", "", html)
        self._page = page
        self._budget = budget
        self._combine = combine
        self._pictures = pictures
        self._blocks: set[int] = set()  # all that any state showed
        self._fruitless: Counter[str] = Counter()
        self._proved: set[str] = set()  # keys of events that brought the same once more
        self._at: Path | None = start  # where the page is; None when it is unknown
        self._nodes: list[_Node] = []
        self._hash = ""
        self.triggered = 0

    @property
    def html(self) -> bytes:
        """The page itself as far as it grew."""
        return self._root.html

    @property
    def screenshot(self) -> bytes:
        """That of the page, if it grew."""
        return self._root.screenshot

    @property
    def states(self) -> list[StateFound]:
        """Its other states that were found."""
        return [StateFound(each.path, each.html, each.url, each.label, each.screenshot) for each in self._nodes]

    async def explore(self) -> None:
        """Looks for states until there are no more or the budget is spent. What was found until an
        error stays found."""
        if await self._page.candidates():
            await self._page.watch()
        first = await self._page.look()
        self._hash = first.hash
        self._blocks |= first.fresh
        queue = deque([self._root])
        while queue and not self._budget.is_over(len(self._nodes)):
            node = queue.popleft()
            before = len(self._nodes)
            await self._try_events(node)
            if node.depth + 1 < self._budget.depth:
                queue.extend(self._nodes[before:])

    async def _try_events(self, node: _Node) -> None:
        if node.events is not None and not self._untried(node, node.events):
            return  # without going there again
        while not self._budget.is_over(len(self._nodes)):
            if not await self._reach(node):
                return
            fresh = self._untried(node, await self._page.candidates())
            if not fresh:
                return
            grown = False
            for candidate in fresh:
                node.tried.add(candidate.step)
                if self._budget.is_over(len(self._nodes)):
                    return
                if self._is_worth(candidate) and await self._reach(node):
                    grown |= await self._try(node, candidate)
            if not grown:  # else there may be events on what came
                return

    def _untried(self, node: _Node, candidates: list[EventCandidate]) -> list[EventCandidate]:
        return [each for each in candidates if self._is_worth(each) and each.step not in node.tried]

    def _is_worth(self, candidate: EventCandidate) -> bool:
        return not self._combine or self._fruitless[candidate.key] < FRUITLESS

    async def _try(self, node: _Node, candidate: EventCandidate) -> bool:
        """Triggers one event in a state. Whether the state grew with it."""
        seen = await self._trigger(candidate.step)
        is_new = seen is not None and self._is_new(seen)
        if is_new and seen is not None and (seen := await self._by_event(node, candidate, seen)) is not None:
            self._fruitless[candidate.key] = 0
            if seen.grew:
                await self._grow(node, candidate, seen)
                await self._show(node)
                return True
            await self._follow(node, candidate, seen)
            return False
        if seen is not None and seen.says_the_same:
            self._hash = seen.hash
        elif seen is not None and seen.hash != self._hash:
            self._at = None
        self._fruitless[candidate.key] += 1
        return False

    async def _by_event(self, node: _Node, candidate: EventCandidate, seen: Seen) -> Seen | None:
        """What an event leads to; None if it came by itself, as a rotating advertisement does."""
        if seen.grew or len(seen.fresh) > SMALL or candidate.key in self._proved:
            return seen
        self._at = None
        again = await self._trigger(candidate.step) if await self._reach(node) else None
        if again is None or not again.fresh & seen.fresh:
            self._at = None
            return None
        self._proved.add(candidate.key)
        return again

    def _is_new(self, seen: Seen) -> bool:
        return seen.hash != self._hash and not seen.fresh <= self._blocks

    async def _grow(self, node: _Node, candidate: EventCandidate, seen: Seen) -> None:
        """Repeats an event that makes the page grow, and takes what comes as part of the state."""
        folded = self._hash
        node.html, before = await self._page.read(), node.path
        times = 1
        while True:
            self._hash = seen.hash
            self._blocks |= seen.fresh
            node.path = self._at = (*before, candidate.step._replace(times=times))
            if times > MOST_REPEATS or time.monotonic() >= self._budget.until:
                break
            more = await self._trigger(candidate.step)
            if more is not None and more.hash == self._hash:
                more = await self._page.look_again()  # it may only be slow
            if more is None or more.hash == self._hash:
                break
            if more.grew and self._is_new(more):
                times, seen = times + 1, more
                continue
            self._at = None  # it does something else now
            if more.hash == folded and times == 1:  # it closes what it opened
                opened = await self._trigger(candidate.step)
                self._at = node.path if opened is not None and opened.hash == seen.hash else None
                return
            if times > 1 and not await self._reach(node):
                return
            break
        if times > 1:
            node.html = await self._page.read()

    async def _follow(self, node: _Node, candidate: EventCandidate, seen: Seen) -> None:
        """Takes a new state, and those that the same event leads to from there, such as the pages
        behind "next"."""
        path, depth = node.path, node.depth + 1
        following: EventCandidate | None = candidate
        while following is not None:
            self._fruitless[following.key] = 0
            path = then(path, following.step)
            self._at, self._hash = path, seen.hash
            self._blocks |= seen.fresh
            found = _Node(path, depth, seen.url, following.text, await self._page.read())
            self._nodes.append(found)
            await self._show(found)
            if self._budget.is_over(len(self._nodes)) or not await self._reach(found):
                return
            key = following.key
            found.events = await self._page.candidates()
            following = next((each for each in found.events if each.key == key), None)
            if following is None:
                return
            found.tried.add(following.step)
            after = await self._trigger(following.step)
            if after is not None and after.hash == self._hash:
                after = await self._page.look_again()
            if after is None or after.hash == self._hash:
                return
            self._at = None
            if after.grew or not self._is_new(after):
                return
            seen = after

    async def _show(self, node: _Node) -> None:
        """Takes the screenshot of a state. A page that notices that all of it was shown is loaded
        again."""
        if self._pictures and await self._reach(node):
            node.screenshot = await self._page.picture()
            if (await self._page.look()).hash != self._hash:
                self._at = None

    async def _trigger(self, step: Step) -> Seen | None:
        self.triggered += 1
        if not await self._page.trigger(step):
            return None
        return await self._page.look()

    async def _reach(self, node: _Node) -> bool:
        """Brings the page into a state. False if its path does not lead there any more."""
        if self._at == node.path:
            return True
        self._at = None
        if not await replay(self._page, node.path):
            return False
        self._hash = (await self._page.look()).hash
        self._at = node.path
        return True


async def replay(page: StatefulPage, path: Path) -> bool:
    """Loads a page and follows a path of events. False if an element on the way is not there."""
    await page.load()
    return await follow(page, path)


async def follow(page: StatefulPage, path: Path) -> bool:
    """Follows a path of events from a page that was just loaded."""
    for step in path:
        for number in range(step.times):
            if not await page.trigger(step):
                # A page may grow by fewer steps than it did.
                if number:
                    break
                return False
    await page.look()
    return True
