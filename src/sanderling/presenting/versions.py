"""Finds a page and its versions by the URL that a user typed, and formats times and kinds of
change."""

import contextlib
import re
import time
from datetime import datetime, timedelta

from sanderling.change.explain import paragraphs
from sanderling.clock import DAY
from sanderling.errors import UsageError
from sanderling.model import ChangeKind, VersionRow
from sanderling.repository import warc
from sanderling.repository.archive import document_in
from sanderling.repository.folder import Folder
from sanderling.repository.store import HistoryStore
from sanderling.urls import SEEDABLE, identity, with_fragment

_MONTH, _DAY = re.compile(r"\d{4}-\d{2}"), re.compile(r"\d{4}-\d{2}-\d{2}")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": DAY, "w": 7 * DAY}


def versions_of(store: HistoryStore, text: str) -> list[VersionRow]:
    """The versions of a page, the oldest first."""
    url = page_named(store, text)
    found = store.versions(identity(url))
    if not found:
        raise UsageError(f"{url} has no version in this crawl")
    return found


def page_named(store: HistoryStore, text: str) -> str:
    """The known URL that a user typed. Without a scheme, it may be the https or the http one."""
    text = text.strip()
    written = [text] if "://" in text else [text, f"https://{text}", f"http://{text}"]
    urls = [url for each in written if (url := with_fragment(each, SEEDABLE))]
    if not urls:
        raise UsageError(f"{text!r} is not a URL")
    known = store.known([identity(url) for url in urls])
    for url in urls:
        if identity(url) in known:
            return url
    raise UsageError(f"{urls[0]} is not known in this crawl; `sanderling pages` lists what is")


def paragraphs_of(folder: Folder, version: VersionRow) -> list[str]:
    """The visible paragraphs of a version. A version that says the page is gone has none."""
    if version.kinds & ChangeKind.GONE:
        return []
    document = document_in(warc.read(folder.warcs, version.stored))
    return paragraphs(document) if document is not None else []


def when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def moment(text: str, now: float) -> float:
    """A point in time: `2026-11`, `2026-11-01`, `2026-11-01 12:00`, `2026-11-01T12:00:00Z`, or an
    age such as `3h` or `7d`."""
    age = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw])", text.strip())
    try:
        at = now - float(age[1]) * _UNITS[age[2]] if age else _in_calendar(text.strip().replace("T", " "))
        when(at)  # raises if the time is outside the calendar
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"{text!r} is not a point in time; write 2026-11-01, '2026-11-01 12:00', or an age such as 3h or 7d"
        ) from None
    return at


def span(first: str, last: str, now: float) -> tuple[float, float]:
    """The time from the start of `first` until the end of `last`: moments, days or months.

    Without `last` it is a month, or else one moment, with 0 as its end.
    """
    start = moment(first, now)
    if not last:
        return start, _end(first, start) if _MONTH.fullmatch(first.strip()) else 0.0
    end = _end(last, moment(last, now))
    if end <= start:
        raise UsageError(f"{last} is before {first}: name the earlier time first")
    return start, end


def _end(text: str, start: float) -> float:
    """When a month, a day or a moment that begins at `start` is over."""
    first = datetime.fromtimestamp(start)
    if _MONTH.fullmatch(text.strip()):
        return (first.replace(day=1) + timedelta(days=32)).replace(day=1).timestamp()
    if _DAY.fullmatch(text.strip()):
        return (first + timedelta(days=1)).timestamp()
    return start


def _in_calendar(text: str) -> float:
    if _MONTH.fullmatch(text):
        text += "-01"
    for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"):
        for zone in ("", "%z"):
            with contextlib.suppress(ValueError):
                return datetime.strptime(text, form + zone).timestamp()  # in the local zone if the text names none
    raise ValueError


def kinds_in_words(version: VersionRow) -> str:
    return ", ".join(version.kinds.names) or "nothing visible"
