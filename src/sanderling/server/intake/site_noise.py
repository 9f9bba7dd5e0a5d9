"""What is known about the noise that all pages of a site share: a counter, a date, an advertisement
in their frame."""

import msgspec

from sanderling.change import Noise
from sanderling.repository.store import Notes

# Losing what the last few visits taught costs a few changes told as news, so it is not written with
# every report.
SAVE_EVERY = 500


class SiteNoise:
    """The noise of each site, read when a page of it is visited again and written now and then."""

    def __init__(self, store: Notes) -> None:
        self._store = store
        self._known: dict[str, Noise] = {}
        self._changed: dict[str, None] = {}
        self._unsaved = 0

    def of(self, site: str) -> Noise:
        if site not in self._known:
            kept = self._store.noted(_key(site))
            self._known[site] = msgspec.json.decode(kept, type=Noise) if kept else Noise()
        return self._known[site]

    def learned(self, site: str, noise: Noise) -> None:
        if noise is self._known[site]:
            return
        self._known[site] = noise
        self._changed[site] = None
        self._unsaved += 1
        if self._unsaved >= SAVE_EVERY:
            self.save()

    def save(self) -> None:
        for site in self._changed:
            self._store.note(_key(site), msgspec.json.encode(self._known[site]).decode())
        self._changed.clear()
        self._unsaved = 0


def _key(site: str) -> str:
    return f"noise of {site}"
