"""The visits of responses that are not read: there is no answer, it is for later, or it brings
nothing new."""

import time
from collections.abc import Sequence

from xxhash import xxh3_128_digest

from sanderling.client.arrival import Arrival, ParsedVisit, has_page, is_success, status_of
from sanderling.client.exchange import exchange_of, rendered_exchange
from sanderling.client.fetcher import Rendered, Response
from sanderling.client.keeping import SAME_TEXT, without_body
from sanderling.header_values import moment, whole_number
from sanderling.model import Found, Outcome, Task, Visit
from sanderling.model.reasons import reason
from sanderling.urls import identity, posted

# A host that wants a longer wait is asked again by the next run. In seconds.
LONGEST_RETRY_AFTER = 3600.0


def unanswered(task: Task, response: Response) -> ParsedVisit:
    """No response came."""
    outcome = Outcome.FAILED if response.hopeless else Outcome.RETRY
    return ParsedVisit(Visit(id=task.id, outcome=outcome, at=time.monotonic(), reason=response.error), task.url)


def put_off(arrival: Arrival) -> ParsedVisit:
    """The server asks to come again later."""
    task, status = arrival.fetch.task, arrival.fetch.response.status
    visit = Visit(
        id=task.id, outcome=Outcome.RETRY, status=status, at=time.monotonic(), reason=reason("status", status),
        retry_after=_retry_after(arrival.known.get(b"retry-after", ""), arrival.known.get(b"date", "")),
    )  # fmt: skip
    return ParsedVisit(visit, task.url)


def not_shown(task: Task, response: Response) -> ParsedVisit | None:
    """The visit of a page that a browser should have shown and did not, if it makes no sense
    without."""
    rendered = response.rendered
    is_shown = rendered is not None and not rendered.gone
    if "#" in task.url and is_success(response.status) and not is_shown and posted(task.url) is None:
        return _state_not_shown(task, response)
    if response.not_rendered and rendered is None and task.digest and xxh3_128_digest(response.body) != task.digest:
        # The page as it was sent would look like a change to what its readers see.
        return _retry(task, response.not_rendered)
    return None


def is_unchanged(arrival: Arrival, digest: bytes) -> bool:
    task, response = arrival.fetch.task, arrival.fetch.response
    if response.status == 304:
        return bool(task.digest)
    same = digest == task.digest or (response.rendered is not None and response.rendered.as_before)
    return same and has_page(response)


def unchanged(arrival: Arrival, recorded: bool) -> ParsedVisit:
    """Nothing new: the page's row says when it was looked at, and the archive only if that is
    `recorded`."""
    fetch, headers, known, body, mime, _ = arrival
    task, response = fetch.task, fetch.response
    visit = Visit(
        id=task.id, outcome=Outcome.UNCHANGED, status=status_of(response), at=response.since, size=response.size,
        etag=known.get(b"etag", ""), modified=known.get(b"last-modified", ""), found=behind(response.rendered),
        reason=response.not_rendered,
    )  # fmt: skip
    if not recorded:
        return ParsedVisit(visit, task.url)
    if response.rendered is not None:
        exchange = rendered_exchange(fetch, headers, response.rendered, unchanged=True)
    else:
        exchange = exchange_of(fetch, headers, body, mime, "304" if response.status == 304 else "same")
    return ParsedVisit(visit, task.url, None, exchange)


def same_text(arrival: Arrival, found: Sequence[Found], recorded: bool) -> ParsedVisit:
    """Another document that says the same, of which the user wants no version."""
    fetch, headers, known, body, mime, _ = arrival
    visit = Visit(
        id=fetch.task.id, outcome=Outcome.UNCHANGED, status=fetch.response.status, at=fetch.response.since,
        size=fetch.response.size, etag=known.get(b"etag", ""), modified=known.get(b"last-modified", ""),
        found=[*found, *behind(fetch.response.rendered)],
    )  # fmt: skip
    exchange = without_body(exchange_of(fetch, headers, body, mime), SAME_TEXT) if recorded else None
    return ParsedVisit(visit, fetch.task.url, None, exchange)


def unwanted(task: Task, why: str) -> ParsedVisit:
    """The user does not want this document."""
    return ParsedVisit(Visit(id=task.id, outcome=Outcome.EXCLUDED, at=time.monotonic(), reason=why), task.url)


def behind(rendered: Rendered | None) -> list[Found]:
    """The URLs that only a browser can show."""
    return [Found(identity(url), url, text) for url, text in rendered.found] if rendered is not None else []


def _state_not_shown(task: Task, response: Response) -> ParsedVisit:
    if response.rendered is None and response.not_rendered:
        return _retry(task, response.not_rendered)
    at = time.monotonic()
    if response.rendered is not None:
        visit = Visit(id=task.id, outcome=Outcome.GONE, status=404, at=at, reason=reason("state-gone"))
    else:
        visit = Visit(id=task.id, outcome=Outcome.FAILED, at=at, reason=reason("state-needs-browser"))
    return ParsedVisit(visit, task.url)


def _retry(task: Task, why: str) -> ParsedVisit:
    return ParsedVisit(Visit(id=task.id, outcome=Outcome.RETRY, at=time.monotonic(), reason=why), task.url)


def _retry_after(value: str, date: str) -> float:
    """Seconds from a Retry-After header, which is a number or a date. A date is compared with that
    of the response: our clock may be wrong."""
    seconds = whole_number(value)
    if seconds is not None:
        return min(float(seconds), LONGEST_RETRY_AFTER)
    until, now = moment(value), moment(date)
    if until is None:
        return 0.0
    return min(max(0.0, until - (time.time() if now is None else now)), LONGEST_RETRY_AFTER)
