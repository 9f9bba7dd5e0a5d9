"""The server's part in the user's extractors: it checks them before a crawl, and reports which of
them fail."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from sanderling import plugins
from sanderling.repository.items import ITEM_KEYS
from sanderling.settings import Settings

if TYPE_CHECKING:  # a crawl without extractors need not wait for the parser
    from sanderling.documents.extracting import Extractor


class Noted(Protocol):
    def note(self, key: str, value: str) -> None: ...


def check(settings: Settings, folder: Path) -> "list[Extractor]":
    """The user's extractors. BadSetting if one of the user's own functions cannot be loaded."""
    plugins.load(plugins.URL_FILTERS, settings.url_filters, folder)
    plugins.load(plugins.FETCHERS, settings.fetchers, folder)
    if not settings.extractors:
        return []
    from sanderling.documents.extracting import load

    return load(settings.extractors, folder)


def note_keys(extractors: "Iterable[Extractor]", store: Noted) -> None:
    """Keeps by which fields items are one, for readers that do not load the extractors."""
    store.note(ITEM_KEYS, msgspec.json.encode({each.name: each.rules.key for each in extractors}).decode())


class ExtractorFailures:
    """Reports the first failure of each extractor. One that fails may fail on every page."""

    def __init__(self) -> None:
        self._reported: set[str] = set()

    def new(self, failures: Iterable[tuple[str, Mapping[str, str]]]) -> list[str]:
        """The sentences for the user about extractors that failed for the first time; errors are
        given by URL."""
        found = []
        for url, failed in failures:
            for extractor, why in failed.items():
                if extractor not in self._reported:
                    self._reported.add(extractor)
                    found.append(
                        f"the extractor {extractor} failed on {url}: {why}; pages on which it fails are stored "
                        "without its data"
                    )
        return found
