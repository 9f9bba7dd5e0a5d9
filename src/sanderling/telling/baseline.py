"""The baseline of a crawl: the versions of its first crawl. They say what was there, so they are
not reported as news."""

import msgspec

from sanderling.repository.store import Notes

_KEY = "baseline"
_ENDLESS = 2**62  # a number that no version reaches; a database can compare it


class Baseline(msgspec.Struct, frozen=True):
    """The versions up to `number`, of `pages` pages. `open` while the first crawl is not
    finished. It knew the URLs up to number `urls`."""

    number: int = 0
    pages: int = 0
    open: bool = False
    urls: int = 0


def baseline(store: Notes) -> Baseline:
    """What a store says. Crawls that were begun before baselines were kept have none."""
    kept = store.noted(_KEY)
    return msgspec.json.decode(kept, type=Baseline) if kept else Baseline()


def begin(store: Notes, newest: int, pages: int, urls: int, revisits: bool) -> None:
    """Call this when a run begins. The first run opens the baseline. The first run that revisits
    pages closes it."""
    kept = store.noted(_KEY)
    if not kept and not newest:
        _keep(store, Baseline(_ENDLESS, 0, open=True))
    elif revisits:
        close(store, newest, pages, urls)


def close(store: Notes, newest: int, pages: int, urls: int) -> None:
    """Call this when nothing is left to fetch: the first crawl is finished."""
    if baseline(store).open:
        _keep(store, Baseline(newest, pages, urls=urls))


def _keep(store: Notes, found: Baseline) -> None:
    store.note(_KEY, msgspec.json.encode(found).decode())
