"""Synthetic sites that change in the ways real sites do.

`poisson` is the textbook case: every page changes independently, at a constant rate. Each of the
others breaks one assumption: rates depend on the folder, changes come in bursts, pages change less
with age, a commit changes many pages of a folder at once, or releases make one folder after the
other the active one.
"""

from collections.abc import Callable

import numpy as np

from lab.simulation.history import PageHistory, from_changes
from sanderling.arrays import Floats


def _times(rng: np.random.Generator, rate: float, days: float) -> Floats:
    return rng.uniform(0, days, rng.poisson(rate * days))


def _bursts(rng: np.random.Generator, rate: float, days: float, size: float = 5.0, width: float = 4.0) -> Floats:
    """Clusters of `size` changes within some `width` days, at the same mean rate."""
    centres = rng.uniform(0, days, rng.poisson(rate * days / size))
    times = np.concatenate([c + rng.exponential(width, rng.geometric(1 / size)) for c in centres] or [np.zeros(0)])
    return times[times < days]


def poisson(
    seed: int, pages: int = 300, days: float = 1500, mean: float = 0.02, spread: float = 1.5
) -> list[PageHistory]:
    rng = np.random.default_rng(seed)
    rates = mean * rng.lognormal(0, spread, pages)
    return from_changes((f"p{k}.html", 0.0, _times(rng, rates[k], days)) for k in range(pages))


def by_folder(seed: int, pages: int = 600, days: float = 3000, mean: float = 0.005) -> list[PageHistory]:
    rng = np.random.default_rng(seed)
    folders = max(pages // 60, 4)
    usual = mean * rng.lognormal(0, 1.8, folders)
    made = []
    for k in range(pages):
        folder = int(rng.integers(folders))
        born = 0.0 if rng.random() < 0.5 else rng.uniform(0, 0.7 * days)
        rate = min(usual[folder] * rng.lognormal(0, 0.6), 2.0)
        made.append((f"s{folder % 5}/d{folder}/p{k}.html", born, _times(rng, rate, days)))
    return from_changes(made)


def bursty(seed: int, pages: int = 300, days: float = 2500) -> list[PageHistory]:
    """Pages change independently, in bursts, and less and less with age."""
    rng = np.random.default_rng(seed)
    made = []
    for k in range(pages):
        born, life = rng.uniform(0, 0.7 * days), rng.exponential(600)
        times = _bursts(rng, 0.02 * rng.lognormal(0, 1.5), days, 6)
        kept = times[rng.random(len(times)) < 0.05 + np.exp(-times / life)]
        made.append((f"{'abc'[k % 3]}/p{k}.html", born, born + kept[kept < days - born]))
    return from_changes(made)


def commits(seed: int, pages: int = 200, days: float = 2500) -> list[PageHistory]:
    """A commit changes many pages of one folder at once."""
    rng = np.random.default_rng(seed)
    times: list[list[float]] = [[] for _ in range(pages)]
    folders = 8
    for folder in range(folders):
        inside = np.arange(folder, pages, folders)
        share = rng.beta(0.5, 1, len(inside))
        for when in _bursts(rng, 0.02 * rng.lognormal(0, 1), days, 3, 5):
            for page in inside[rng.random(len(inside)) < share]:
                times[page].append(when)
    born = rng.uniform(0, days / 2, pages)
    return from_changes((f"d{k % folders}/p{k}.html", float(born[k]), times[k]) for k in range(pages))


def releases(seed: int, pages: int = 600, days: float = 3000) -> list[PageHistory]:
    """Documentation in versions: the newest folder is edited and sometimes rebuilt; older folders
    rarely change."""
    rng = np.random.default_rng(seed)
    versions = 8
    released = np.sort(rng.uniform(0, days, versions))
    released[0] = 0.0
    each = pages // versions
    popular = rng.pareto(1.1, each) + 0.05
    popular /= popular.sum()
    times: list[list[float]] = [[] for _ in range(versions * each)]
    for when in _bursts(rng, pages / 3000, days):
        newest = int(np.searchsorted(released, when)) - 1
        version = newest if rng.random() < 0.9 else int(rng.integers(newest + 1))
        rebuilt = rng.random() < 0.02
        touched = range(each) if rebuilt else rng.choice(each, 1 + rng.geometric(0.5), p=popular)
        for page in touched:
            times[version * each + int(page)].append(when)
    return from_changes(
        (f"docs/{k // each}.0/p{k % each}.html", float(released[k // each]), times[k]) for k in range(len(times))
    )


def blog(seed: int, pages: int = 400, days: float = 2500) -> list[PageHistory]:
    """Posts are corrected in their first days. Each post changes the front page and a tag; a new
    design changes all."""
    rng = np.random.default_rng(seed)
    tags, designs = max(pages // 20, 2), rng.uniform(0, days, 5)
    lists: list[list[float]] = [[] for _ in range(tags + 1)]
    popular = rng.pareto(1.0, tags) + 0.01
    popular /= popular.sum()
    made = []
    for k in range(pages - tags - 1):
        born = rng.uniform(0, days)
        edits = born + rng.exponential(3, rng.poisson(1.2))
        late = born + rng.exponential(400, rng.geometric(0.5) if rng.random() < 0.15 else 0)
        times = np.concatenate([edits, late, designs])
        made.append(
            (f"{2015 + int(born // 365)}/{int(born % 365 // 31) + 1:02d}/post-{k}.html", born, times[times < days])
        )
        lists[0].append(born)
        lists[1 + int(rng.choice(tags, p=popular))].append(born)
    made.append(("index.html", 0.0, np.array(lists[0])))
    made += [(f"tag/t{k}.html", 0.0, np.array([*lists[k + 1], *designs])) for k in range(tags)]
    return from_changes(made)


SITES: dict[str, Callable[[int], list[PageHistory]]] = {
    "poisson": poisson,
    "by-folder": by_folder,
    "bursty": bursty,
    "commits": commits,
    "releases": releases,
    "blog": blog,
}
