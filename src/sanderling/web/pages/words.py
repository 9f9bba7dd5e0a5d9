"""Describes what is known about a page, in sentences."""

import json
import math
import time
from collections.abc import Mapping
from typing import Any

from sanderling.change.judging import known_fingerprint, known_noise
from sanderling.clock import DAY
from sanderling.freshness.outlook import Interval
from sanderling.freshness.rates import PageRate
from sanderling.model import Kind
from sanderling.presenting.screen import many, size
from sanderling.repository.views import Shown
from sanderling.web.pages.rendering import about, ago, percent, when


def facts(page: Shown) -> list[tuple[str, str]]:
    """The known facts, as names and values."""
    found = [
        ("State", page.state + (f": {page.reason}" if page.reason else "")),
        ("Answer", f"{page.status}" if page.status else ""),
        ("Kind", ", ".join(filter(None, [page.mime, page.charset, page.language]))),
        ("Size", size(page.size) + (", cut short" if page.truncated else "") if page.status else ""),
        ("From a seed", "it is a seed" if not page.depth else many(page.depth, "step")),
        ("Visits", _visits(page) if page.visits else ""),
        ("Last visit", f"{ago(page.fetched_at)}, {when(page.fetched_at)}" if page.fetched_at else ""),
        ("Last change", f"{ago(page.changed_at)}, {when(page.changed_at)}" if page.changes else ""),
        ("Importance", f"{page.importance:.3g}" if page.importance else ""),
        ("Relevance", f"{page.relevance:.3g}" if page.relevance else ""),
        ("Link text", page.anchor),
        ("Read with your login", "it stays out of exports and feeds" if page.login else ""),
        ("Not to be indexed", "at the request of the page" if page.noindex else ""),
    ]
    return [(name, value) for name, value in found if value]


def data(extracted: dict[str, dict[str, Any]] | None) -> list[tuple[str, str]]:
    """What extractors found on a page, as names and values."""
    return [
        (
            f"{extractor}.{name}"[:100],
            (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:1000],
        )
        for extractor, found in (extracted or {}).items()
        for name, value in found.items()
    ]


def _visits(page: Shown) -> str:
    parts = [f"{page.visits:,}"]
    if page.not_modified:
        parts.append(f"{page.not_modified:,} answered “not modified” (304)")
    if page.same:
        parts.append(f"{page.same:,} received the same bytes")
    return ", ".join(parts)


def why_unkept(page: Shown) -> str:
    """Why there is no version of an address."""
    if page.kind == Kind.SOURCE:
        return "it is a sitemap. It is only read for the addresses in it."
    if page.kind == Kind.ANSWER:
        return "it is the answer to a form. It is only read for the addresses in it."
    return {
        "known": f"it is {page.reason}.",
        "queued": "it waits for its first visit.",
        "leased": "it is being visited.",
        "fetched": "it redirects to another address.",
        "failed": f"visits failed ({page.reason or 'no answer'}).",
        "gone": "it did not exist.",
        "excluded": f"it is not followed ({page.reason or 'out of scope'}).",
    }[page.state]


def fingerprint(page: Shown) -> list[str]:
    """What is stored about the last version, to compare the next one with it."""
    known = known_fingerprint(page.fingerprint)
    if known is None:
        return []
    lines = [
        f"Text: {many(known.paragraphs, 'paragraph')}, {known.codes.length:,} characters, fingerprint {known.text.hex()[:8]}.",
        f"Structure: {many(known.elements, 'element')}, fingerprint {known.structure.hex()[:8]}.",
        f"Look: fingerprint {known.presentation.hex()[:8]}.",
        f"Images: {many(known.image_count, 'image')}, fingerprint {known.images.hex()[:8]}."
        if known.image_count
        else "Images: none.",
    ]
    if known.behaviour:
        lines.append(f"Scripts: fingerprint {known.behaviour.hex()[:8]}.")
    if known.prices:
        lines.append(f"Prices on it: {', '.join(known.prices)}.")
    noise = known_noise(page.noise)
    volatile = sum(place.volatile for place in noise.places.values())
    if volatile:
        lines.append(f"{many(volatile, 'place')} on it changed on most visits; such changes are not news.")
    if restless := [str(aspect) for aspect, count in noise.aspects.items() if count.volatile]:
        lines.append(f"Changed on most visits, so these changes are not news: {', '.join(sorted(restless))}.")
    if noise.returns:
        lines.append(f"It went back to an earlier version {many(noise.returns, 'time')}.")
    return lines


def schedule(page: Shown, first_seen: float, rates: Mapping[str, float], rate: PageRate | None) -> list[str]:
    """When the next visit is, and why. `rates` are the known changes a day by kind.

    `first_seen` is 0 if there is no version."""
    lines = []
    if page.visits > 1:
        over = f" over {about(page.fetched_at - first_seen)}" if 0 < first_seen < page.fetched_at else ""
        lines.append(f"{many(page.visits, 'visit')}{over} found {many(page.changes, 'change')}.")
    elif page.visits:
        lines.append("It was visited once, so its change rate is estimated from similar pages.")
    if often := rate.eb.expected if rate else 0.0:
        others = [f"its {kind} every {about(DAY / rate)}" for kind, rate in rates.items() if kind != "any" and rate]
        lines.append(f"So it is expected to change about every {about(DAY / often)}" + _listed(others) + ".")
        lines += _estimates(rate) if rate else []
        stale = -math.expm1(-often * max(0.0, time.time() - page.fetched_at) / DAY)
        lines.append(f"The probability that it has changed by now is {percent(stale)}.")
    return [*lines, *_next_visit(page)]


def _estimates(rate: PageRate) -> list[str]:
    """By which estimators, and how sure they are."""
    lines = [f"Estimated by EB from {_source(rate.eb_of)}: {_changes(rate.eb)}."]
    if rate.ep:
        lines.append(f"By EP from {_source(rate.ep_of)}: {_changes(rate.ep)}.")
    return lines


def _source(of: str) -> str:
    return {"page": "its own visits and pages like it", "host": "visits to pages near it on its host"}.get(of, of)


def _changes(each: Interval) -> str:
    most = f"to {each.high:.3g}" if each.high < math.inf else "or more"
    return f"{each.expected:.3g} changes a day, probably {each.low:.3g} {most}"


def _next_visit(page: Shown) -> list[str]:
    if page.state not in ("fetched", "gone"):
        waits = page.state in ("queued", "leased")
        return ["It waits in the queue for its first visit." if waits else "It will not be visited."]
    if page.due > time.time():
        return [f"Its next visit is due {ago(page.due)}, {when(page.due)}."]
    if page.due:
        return ["Its next visit is due now."]
    return [
        "The next visit comes with a refresh. A refresh first visits the pages that have most probably changed, and "
        "prefers important pages."
    ]


def _listed(parts: list[str]) -> str:
    return f": {', '.join(parts)}" if parts else ""
