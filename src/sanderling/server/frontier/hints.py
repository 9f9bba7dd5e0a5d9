"""The one way in for what others say of URLs (`model.Hint`): into the frontier, and into what is
believed of a page.

A URL that is not known yet is admitted. Of a known URL, a hint that is not sure is evidence: its
date is kept, and the update module believes it as far as the host deserves (`freshness/trust.py`).
A sure one makes the URL due at once.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from sanderling.model import Found, Hint, NewUrl, Outcome, Visit

# How sure a sitemap or a feed is of a date, before anything is known of its host.
DATED = 0.5
# Who asks for a visit gets one.
SURE = 1.0

Admit = Callable[[Hint], list[NewUrl]]


class HintEffects(NamedTuple):
    """What hints lead to."""

    urls: list[NewUrl]  # rows for URLs that were not known
    dated: list[tuple[int, float]]  # known URLs, and when they changed as the source says
    due: list[int]  # known URLs that are to be visited at once


def apply_hints(hints: Iterable[Hint], unknown: Collection[int], admit: Admit) -> HintEffects:
    """Decides about hints; `unknown` are the URLs among them that are not known yet."""
    effects = HintEffects([], [], [])
    for hint in hints:
        if hint.id in unknown:
            if hint.what != "gone":
                effects.urls.extend(admit(hint))
        elif hint.sure >= SURE:
            effects.due.append(hint.id)
        elif hint.at:
            effects.dated.append((hint.id, hint.at))
    return effects


def hints_in(seen: Mapping[int, tuple[Found, Visit]], unknown: Collection[int]) -> list[Hint]:
    """What the sitemaps and feeds of a report say, by the URLs it mentions; a link without a date
    says nothing."""
    return [
        Hint(
            id,
            found.url,
            "new" if id in unknown else "changed",
            found.modified,
            "sitemap" if visit.outcome is Outcome.SOURCE else "feed",
            DATED,
        )
        for id, (found, visit) in seen.items()
        if found.modified
    ]
