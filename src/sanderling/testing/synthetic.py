"""A synthetic web: which pages exist at any time, how they link, and their content.

Everything is computed and nothing is stored. So a million pages cost no memory, and two webs with
the same parameters are equal on every machine.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sanderling.clock import DAY
from sanderling.testing.chance import fraction, scramble
from sanderling.testing.naming import Name, name, number_in
from sanderling.testing.rendering import RenderedLink, paragraph_count, picture_names, render
from sanderling.testing.schedule import ALWAYS, Condition, Lifetime, PageSchedule, ScheduledChange
from sanderling.testing.topology import PlannedPage, Topology

if TYPE_CHECKING:
    from sanderling.testing.synthetic_server import ServedWeb

_SIZE, _GONE = 11, 12


@dataclass(frozen=True)
class SyntheticWeb:
    """A web of `hosts` hosts with `pages` pages in all at time 0, evenly distributed.

    links        links on a page, at least 2; on inner pages, half of them form a tree, so that
    every page can be
                 reached from the front page of its host; the others lead anywhere
    size         mean bytes of text on a page latency      seconds until the server answers
    change_rate  mean changes of a page per day; a share `unchanging` never changes, the rates of
    the others are
                 log-normal with `rate_spread` (0: all equal)
    appear       share of pages, relative to time 0, that appear during the first `span` seconds
    vanish       probability that a leaf page vanishes during the first `span` seconds skew
    0: all pages get equally many links; below 1: the k-th page gets links in proportion to k**-skew
    topics       how many topics there are: every page but the front pages is about one of them, and
    its text has words of
                 it; 0: no page has a topic
    locality     the share of links that lead to a page with the same topic, beside those that do by
    chance origin       None: host N is `http://hostN.test`; an origin such as
    `http://127.0.0.1:8080`: all hosts are
                 below it
    image_size   bytes of a picture, beside its 64 pixels
    """

    hosts: int = 1
    pages: int = 100
    seed: int = 0
    links: int = 8
    size: int = 2000
    latency: float = 0.0
    change_rate: float = 0.1
    unchanging: float = 0.3
    rate_spread: float = 1.5
    appear: float = 0.1
    vanish: float = 0.1
    span: float = 30 * DAY
    skew: float = 0.6
    topics: int = 0
    locality: float = 0.0
    origin: str | None = None
    image_size: int = 0

    def __post_init__(self) -> None:
        if self.hosts < 1 or self.pages < self.hosts:
            raise ValueError("a web needs at least one host, and at least one page for each host")
        if self.links < 2:
            raise ValueError("links must be at least 2, because otherwise some pages cannot be reached")
        if not (0 <= self.appear <= 1 and 0 <= self.vanish <= 1 and 0 <= self.unchanging < 1 and 0 <= self.skew < 1):
            raise ValueError("appear and vanish must be from 0 to 1; unchanging and skew from 0 to below 1")
        if not all(0 <= each < math.inf for each in (self.change_rate, self.rate_spread, self.size, self.latency)):
            raise ValueError("rates, sizes and latencies cannot be negative or infinite")
        if self.topics < 0 or not 0 <= self.locality <= 1:
            raise ValueError("topics cannot be negative, and locality must be from 0 to 1")
        if not 0 < self.span < math.inf:
            raise ValueError("span must be more than 0")

    # What exists, and when.

    @property
    def seeds(self) -> list[str]:
        """The front page of every host."""
        return [self.url(PlannedPage(host, 0)) for host in range(self.hosts)]

    def pages_at(self, t: float) -> set[str]:
        return {self.url(page) for page in self.every_page() if self.lifetime(page).covers(t)}

    def reachable(self, t: float, seeds: Iterable[str] | None = None) -> set[str]:
        """All pages that can be reached from the seeds (by default every front page) by the links
        at time `t`."""
        found = {page for url in (self.seeds if seeds is None else seeds) if (page := self.living(url, t))}
        queue = deque(found)
        while queue:
            for target in self.targets(queue.popleft(), t):
                if target not in found:
                    found.add(target)
                    queue.append(target)
        return {self.url(page) for page in found}

    def status(self, url: str, t: float) -> int:
        """200 if the page exists. 404 if it never existed, does not exist yet or is gone. 410 for
        some gone pages."""
        page = self.locate(url)
        if page is None:
            return 404
        life = self.lifetime(page)
        if life.covers(t):
            return 200
        return 410 if t >= life.dies and fraction(self.topology.key(page), _GONE) < 0.5 else 404

    # The content of a page. A page that does not exist at `t` raises LookupError.

    def body(self, url: str, t: float) -> bytes:
        return self.page_body(self._existing(url, t), t)

    def links_at(self, url: str, t: float) -> list[str]:
        """The pages that a page links to, in order, without images. All of them exist at `t`."""
        return [self.url(target) for target in self.targets(self._existing(url, t), t)]

    def images_at(self, url: str, t: float) -> list[str]:
        page = self._existing(url, t)
        names = picture_names(self.topology.key(page), self.condition(page, t))
        return [f"{self.base(page.host)}/img/{name}.png" for name in names]

    def version(self, url: str, t: float) -> str:
        """Equal for two times if and only if the page is equal."""
        return self.page_version(self._existing(url, t), t)

    def modified(self, url: str, t: float) -> float:
        """The time of the last change up to `t`, or 0 if the page has not changed."""
        return self.page_modified(self._existing(url, t), t)

    # The truth that tests compare with.

    def changes(self, url: str, t0: float, t1: float) -> list[ScheduledChange]:
        """The changes of a page in (t0, t1], the oldest first."""
        page = self._known(url)
        life = self.lifetime(page)
        found = [
            ScheduledChange(edit.at, edit.kind)
            for edit in self.schedule.edits(self.topology.key(page), max(t0, life.born), min(t1, life.dies))
            if edit.at < life.dies
        ]
        moments = [ScheduledChange(life.born, "appear"), ScheduledChange(life.dies, "vanish")]
        for _, life in self._children(page):
            moments += [ScheduledChange(at, "links") for at in life]
        return sorted(found + [change for change in moments if t0 < change.at <= t1])

    def title(self, url: str) -> str:
        return self._name(self._known(url)).title

    def topic(self, url: str) -> int:
        """Which topic a page is about; -1 for a front page, and in a web without topics."""
        return self.topology.topic(self._known(url))

    def rate(self, url: str) -> float:
        """The true rate that an estimator should find, in edits per second. It does not include
        `links` changes."""
        return self.schedule.rate(self.topology.key(self._known(url)))

    def serve(
        self,
        *,
        port: int = 0,
        address: str = "127.0.0.1",
        name: str = "",
        robots: str = "",
        robots_status: int = 200,
        validators: bool = True,
        speed: float = 0.0,
        record: bool = False,
        application: bool = False,
    ) -> "ServedWeb":
        """A server for a `with` statement. It runs in a thread of its own. `name` is a host name of
        the address.

        As an `application`, every page is the same document, and a script asks for the content.
        """
        from sanderling.testing.synthetic_server import ServedWeb

        return ServedWeb(
            self,
            port=port,
            address=address,
            name=name,
            robots=robots,
            robots_status=robots_status,
            validators=validators,
            speed=speed,
            record=record,
            application=application,
        )

    # The same for a page instead of a URL, as the server needs it.

    def page_body(self, page: PlannedPage, t: float) -> bytes:
        key = self.topology.key(page)
        path, title = self._name(page)
        up = "../" * (path.partition("?")[0].count("/") - 1)
        return render(
            seed=self.seed,
            key=key,
            title=title,
            links=[self._link(page.host, up, target) for target in self.targets(page, t)],
            pictures=up + "img/",
            paragraphs=self._paragraphs(key),
            condition=self.condition(page, t),
            topic=self.topology.topic(page),
        )

    def page_version(self, page: PlannedPage, t: float) -> str:
        condition = self.condition(page, t)
        total = condition.structure ^ scramble(condition.presentation) ^ scramble(scramble(condition.image))
        for item in sorted(condition.text.items()):
            total = scramble(total ^ scramble(item[0]) ^ item[1])
        for _, life in self._children(page):
            total = scramble(total + life.covers(t))
        return f"{total ^ self.topology.key(page):016x}"

    def page_modified(self, page: PlannedPage, t: float) -> float:
        latest = max(0.0, self.lifetime(page).born, self.condition(page, t).modified)
        for _, life in self._children(page):
            latest = max([latest, *(at for at in life if at <= t)])
        return latest

    def condition(self, page: PlannedPage, t: float) -> Condition:
        key = self.topology.key(page)
        return self.schedule.condition(key, t, self._paragraphs(key))

    def targets(self, page: PlannedPage, t: float) -> list[PlannedPage]:
        """Links to the front page, to other hosts (from front pages), to existing children and to
        random lasting pages."""
        found = {PlannedPage(page.host, 0): None}
        found |= dict.fromkeys(self.topology.neighbours(page))
        found |= {child: None for child, life in self._children(page) if life.covers(t)}
        for target in self.topology.chance_targets(page, self.topology.key(page)):
            found[target if self._stays(target) else self.topology.parent(target)] = None
        found.pop(page, None)
        return list(found)

    def every_page(self) -> Iterator[PlannedPage]:
        """Every page that exists at any time."""
        return (PlannedPage(h, i) for h in range(self.hosts) for i in range(self.topology.total[h]))

    def lifetime(self, page: PlannedPage) -> Lifetime:
        """Pages with children exist for ever, so that every page can always be reached from the
        front page."""
        if page.number == 0 or self.topology.children(page):
            return ALWAYS
        newcomer = page.number >= self.topology.initial[page.host]
        return self.schedule.lifetime(self.topology.key(page), newcomer=newcomer)

    def _stays(self, page: PlannedPage) -> bool:
        topology = self.topology
        return (
            page.number * topology.branching + 1 < topology.total[page.host]
            or page.number == 0
            or not self.schedule.vanishes(topology.key(page))
        )

    def _children(self, page: PlannedPage) -> list[tuple[PlannedPage, Lifetime]]:
        children = (PlannedPage(page.host, number) for number in self.topology.children(page))
        return [(child, self.lifetime(child)) for child in children]

    # URLs.

    def base(self, host: int) -> str:
        if self.origin is None:
            return f"http://host{host}.test"
        return self.origin if self.hosts == 1 else f"{self.origin}/host{host}"

    def url(self, page: PlannedPage) -> str:
        return self.base(page.host) + self.path(page)

    def path(self, page: PlannedPage) -> str:
        return self._name(page).path

    def _name(self, page: PlannedPage) -> Name:
        return name(self.seed, self.topology.key(page), page.number, self.topology.topic(page))

    def _link(self, host: int, up: str, target: PlannedPage) -> RenderedLink:
        """A link as an absolute URL, as a relative path with dots or as a path from the root."""
        path, title = self._name(target)
        form = (target.number + len(up) // 3) % 4
        if target.host != host or form == 0:
            return RenderedLink(self.base(target.host) + path, title)
        if form == 1 or (self.origin and self.hosts > 1):
            return RenderedLink(up + path[1:], title)
        return RenderedLink(path, title)

    def locate(self, url: str) -> PlannedPage | None:
        """The page of a URL, whether or not it exists at some time."""
        found = self.split(url)
        return found and self.at_path(*found)

    def split(self, url: str) -> tuple[int, str] | None:
        """Host number and path."""
        prefix = "http://host" if self.origin is None else self.origin
        if not url.startswith(prefix):
            return None
        rest = url[len(prefix) :]
        if self.origin is None:
            number, dot, rest = rest.partition(".test")
        elif self.hosts == 1:
            number, dot = "0", "."
        else:
            empty, dot, rest = rest.partition("/host")
            number, slash, rest = rest.partition("/")
            rest = slash + rest
            if empty:
                return None
        if not (dot and number.isdecimal() and int(number) < self.hosts and rest.startswith("/")):
            return None
        return int(number), rest

    def at_path(self, host: int, path: str) -> PlannedPage | None:
        page = PlannedPage(host, number_in(path))
        if page.number >= self.topology.total[host] or self.path(page) != path:
            return None
        return page

    def living(self, url: str, t: float) -> PlannedPage | None:
        page = self.locate(url)
        return page if page and self.lifetime(page).covers(t) else None

    @cached_property
    def schedule(self) -> PageSchedule:
        return PageSchedule(self.change_rate, self.unchanging, self.rate_spread, self.vanish, self.span)

    @cached_property
    def topology(self) -> Topology:
        return Topology(
            self.hosts, self.pages, self.seed, self.links, self.appear, self.skew, self.topics, self.locality
        )

    def _paragraphs(self, key: int) -> int:
        return paragraph_count(self.size * (0.5 + fraction(key, _SIZE)))

    def _known(self, url: str) -> PlannedPage:
        page = self.locate(url)
        if page is None:
            raise LookupError(f"{url} is never a page of this web")
        return page

    def _existing(self, url: str, t: float) -> PlannedPage:
        page = self.living(url, t)
        if page is None:
            raise LookupError(f"{url} does not exist at time {t}")
        return page
