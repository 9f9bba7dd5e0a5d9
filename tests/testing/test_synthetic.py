"""The synthetic web: equal on every machine, connected at every time, and its changes are as
scheduled."""

import math
import re
from collections import Counter
from hashlib import sha256
from html import unescape
from itertools import pairwise
from urllib.parse import urljoin

import pytest

from sanderling.testing import DAY, SyntheticWeb

LIVELY = SyntheticWeb(hosts=3, pages=150, seed=7, change_rate=0.5, appear=0.2, vanish=0.2, span=10 * DAY)


def test_the_same_parameters_are_the_same_web() -> None:
    again = SyntheticWeb(hosts=3, pages=150, seed=7, change_rate=0.5, appear=0.2, vanish=0.2, span=10 * DAY)
    other = SyntheticWeb(hosts=3, pages=150, seed=8, change_rate=0.5, appear=0.2, vanish=0.2, span=10 * DAY)
    t = 5.5 * DAY
    assert again.pages_at(t) == LIVELY.pages_at(t) != other.pages_at(t)
    assert all(again.body(url, t) == LIVELY.body(url, t) for url in LIVELY.pages_at(t))
    assert other.body(other.seeds[0], t) != LIVELY.body(LIVELY.seeds[0], t)


def test_the_web_does_not_depend_on_the_release() -> None:
    """A recorded value. If it changes, all experiments on the synthetic web change."""
    web = SyntheticWeb(pages=200, seed=1)
    bodies = b"".join(web.body(url, 5 * DAY) for url in sorted(web.pages_at(5 * DAY)))
    assert sha256(bodies).hexdigest()[:16] == "dbbd65d2038dcc5a"


@pytest.mark.parametrize("day", [0, 3, 9.5, 11, 400])
def test_every_living_page_is_reachable_and_no_link_is_broken(day: float) -> None:
    t = day * DAY
    pages = LIVELY.pages_at(t)
    assert LIVELY.reachable(t) == pages
    for seed in LIVELY.seeds:
        assert LIVELY.reachable(t, [seed]) == pages, "hosts link to each other"
    for url in pages:
        links = LIVELY.links_at(url, t)
        assert set(links) <= pages
        assert url not in links
        assert len(links) == len(set(links))


def test_hosts_of_a_single_page_reach_each_other() -> None:
    web = SyntheticWeb(hosts=9, pages=9, appear=0, links=2)
    assert all(web.reachable(0, [seed]) == set(web.seeds) for seed in web.seeds)


def test_links_in_the_html_are_the_links_of_the_description() -> None:
    for web in (LIVELY, SyntheticWeb(hosts=3, pages=60, origin="http://127.0.0.1:8080")):
        forms = set()
        for url in web.pages_at(0):
            hrefs = [unescape(h) for h in re.findall(r'<a href="([^"]*)"', web.body(url, 0).decode())]
            assert [urljoin(url, href) for href in hrefs] == web.links_at(url, 0)
            sources = re.findall(r'<img src="([^"]*)"', web.body(url, 0).decode())
            assert [urljoin(url, source) for source in sources] == web.images_at(url, 0)
            forms |= {href.split("/")[0] for href in hrefs}
        assert {"http:", ".."} <= forms


def test_page_counts_and_their_course() -> None:
    assert len(LIVELY.pages_at(0)) == 150
    assert len(SyntheticWeb(pages=1).pages_at(0)) == 1
    born = len(LIVELY.pages_at(11 * DAY) - LIVELY.pages_at(0))
    gone = len(LIVELY.pages_at(0) - LIVELY.pages_at(11 * DAY))
    assert born > 15
    assert gone > 10


def test_bodies_differ_exactly_when_the_schedule_says_so() -> None:
    kinds: Counter[str] = Counter()
    for url in LIVELY.pages_at(0) & LIVELY.pages_at(6 * DAY):
        moments = [0.0, *(change.at for change in LIVELY.changes(url, 0, 6 * DAY)), 6 * DAY]
        for before, after in pairwise(moments):
            just_before = math.nextafter(after, before)
            assert LIVELY.body(url, before) == LIVELY.body(url, just_before)
            assert LIVELY.version(url, before) == LIVELY.version(url, just_before)
        for change in LIVELY.changes(url, 0, 6 * DAY):
            kinds[change.kind] += 1
            before, after = math.nextafter(change.at, 0), change.at
            assert LIVELY.body(url, before) != LIVELY.body(url, after), change
            assert LIVELY.version(url, before) != LIVELY.version(url, after)
            assert LIVELY.modified(url, after) == change.at > LIVELY.modified(url, before)
    assert set(kinds) == {"text", "structure", "presentation", "image", "links"}


def test_each_kind_of_change_shows_in_its_own_place() -> None:
    def aspects(url: str, t: float) -> dict[str, object]:
        html = LIVELY.body(url, t).decode()
        return {
            "text": re.sub(r"<[^>]*>|\s+", " ", html).split(),
            "structure": re.findall(r"</?\w+", html),
            "presentation": re.findall(r'style="[^"]*"', html),
            "image": re.findall(r'src="[^"]*"', html),
        }

    seen = set()
    for url in LIVELY.pages_at(0):
        for change in LIVELY.changes(url, 0, 3 * DAY):
            if change.kind in ("text", "structure", "presentation", "image"):
                seen.add(change.kind)
                before, after = aspects(url, math.nextafter(change.at, 0)), aspects(url, change.at)
                assert [name for name in before if before[name] != after[name]] == [change.kind]
    assert len(seen) == 4


def test_appearing_and_vanishing_are_in_the_schedule_and_in_the_status() -> None:
    statuses = set()
    for url in LIVELY.pages_at(0) ^ LIVELY.pages_at(11 * DAY):
        for change in LIVELY.changes(url, -1, 11 * DAY):
            before = math.nextafter(change.at, -1)
            if change.kind == "appear":
                assert (LIVELY.status(url, before), LIVELY.status(url, change.at)) == (404, 200)
            if change.kind == "vanish":
                assert LIVELY.status(url, before) == 200
                statuses.add(LIVELY.status(url, change.at))
                with pytest.raises(LookupError):
                    LIVELY.body(url, change.at)
    assert statuses == {404, 410}


def test_rates_are_mixed_and_the_changes_follow_them() -> None:
    web = SyntheticWeb(pages=2000, change_rate=1.0, appear=0, vanish=0)
    urls = sorted(web.pages_at(0))
    rates = [web.rate(url) * DAY for url in urls]
    assert 0.25 < rates.count(0) / len(rates) < 0.35
    assert sum(rates) / len(rates) == pytest.approx(1.0, rel=0.2)
    assert max(rates) > 20 * sorted(rates)[len(rates) // 2]
    counts = [len(web.changes(url, 0, 50 * DAY)) for url in urls]
    assert all(count == 0 for count, rate in zip(counts, rates, strict=True) if rate == 0)
    assert sum(counts) == pytest.approx(50 * sum(rates), rel=0.02)


def test_changes_are_a_poisson_process() -> None:
    """Mean and variance of counts agree, and gaps are memoryless."""
    web = SyntheticWeb(pages=1, change_rate=1.0, unchanging=0, rate_spread=0)
    times = [change.at / DAY for change in web.changes(web.seeds[0], 0, 4000 * DAY)]
    counts = Counter(int(at) for at in times)
    mean = len(times) / 4000
    variance = sum((counts[day] - mean) ** 2 for day in range(4000)) / 4000
    assert mean == pytest.approx(1, rel=0.06)
    assert variance == pytest.approx(mean, rel=0.1)
    gaps = [b - a for a, b in pairwise(times)]
    assert sum(gap > 1 for gap in gaps) / len(gaps) == pytest.approx(math.exp(-mean), rel=0.1)
    assert times == sorted(times)


def test_popular_pages_by_skew() -> None:
    def most_linked(skew: float) -> int:
        web = SyntheticWeb(pages=500, skew=skew, vanish=0)
        home = web.seeds[0]
        counts = Counter(link for url in web.pages_at(0) for link in web.links_at(url, 0) if link != home)
        return counts.most_common(1)[0][1]

    assert most_linked(0.7) > 4 * most_linked(0)


def test_a_million_pages_are_described_at_once() -> None:
    web = SyntheticWeb(hosts=100, pages=1_000_000)
    url = web.links_at(web.links_at(web.seeds[99], 0)[-1], 0)[-1]
    assert web.status(url, 0) == 200
    assert b"<h1" in web.body(url, 1000 * DAY)


def test_sizes_follow_the_wish() -> None:
    for size in (500, 2000, 20_000):
        web = SyntheticWeb(pages=100, size=size)
        prose = sum(len(re.sub(rb"<[^>]*>", b"", web.body(url, 0))) for url in web.pages_at(0)) / 100
        assert size * 0.9 < prose < size * 1.15 + 400


@pytest.mark.parametrize(
    "wrong",
    [
        {"hosts": 0},
        {"pages": 0},
        {"hosts": 3, "pages": 2},
        {"links": 1},
        {"vanish": 2.0},
        {"skew": 1.0},
        {"latency": math.nan},
    ],
)
def test_impossible_webs_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError):
        SyntheticWeb(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "url",
    [
        "http://host0.test",
        "http://host9.test/",
        "http://hostx.test/",
        "https://host0.test/",
        "http://host0.test/nothing-5.html",
        "http://host0.test/x-99999999999999999999999.html",
        "ftp://x/",
        "",
    ],
)
def test_foreign_urls_are_not_found(url: str) -> None:
    assert LIVELY.status(url, 0) == 404
    with pytest.raises(LookupError):
        LIVELY.changes(url, 0, 1)
