"""The items that extractors found on the pages of a crawl, each once."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import msgspec

from sanderling.model import PageRow

# Under this key the store notes by which fields the items of each extractor are one.
ITEM_KEYS = "item_keys"


class ItemStore(Protocol):
    def noted(self, key: str) -> str: ...
    def pages(self) -> Iterator[PageRow]: ...


class StoredItem(NamedTuple):
    """One item."""

    url: str  # of the page that it is from
    extractor: str
    key: str  # empty for an item without one
    item: dict[str, Any]
    at: float  # when the version of the page was found


def items(store: ItemStore, with_login: bool = False, extractor: str = "") -> Iterator[StoredItem]:
    """The items of the pages that are there, of one extractor or all. Of items with the same key,
    the one that was found last counts."""
    keys = msgspec.json.decode(store.noted(ITEM_KEYS) or "{}", type=dict[str, list[str]])
    winners: dict[str, tuple[float, str]] = {}
    if any(keys.values()):
        for each in _all(store, keys, with_login, extractor):
            if each.key:
                winners[each.key] = max(winners.get(each.key, (0.0, "")), (each.at, each.url))
    for each in _all(store, keys, with_login, extractor):
        if not each.key or winners.get(each.key) == (each.at, each.url):
            yield each._replace(key=each.key.partition(" ")[2])


def _all(store: ItemStore, keys: dict[str, list[str]], with_login: bool, extractor: str) -> Iterator[StoredItem]:
    for page in store.pages():
        if not page.extracted or (page.login and not with_login):
            continue
        for name, data in page.extracted.items():
            if extractor and name != extractor:
                continue
            for item in data if isinstance(data, list) else [data]:
                fields = keys.get(name, [])
                key = ""
                if fields and all(field in item for field in fields):
                    values = [item[field] for field in fields]
                    key = f"{name} {values[0] if len(values) == 1 else json.dumps(values, ensure_ascii=False)}"
                yield StoredItem(page.url, name, key, item, page.changed_at or page.fetched_at)
