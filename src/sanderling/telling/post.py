"""Sends one message to the endpoint of a webhook."""

import time

from sanderling.header_values import moment, whole_number
from sanderling.network.one_request import request
from sanderling.network.reach import PUBLIC, NetworkReach
from sanderling.telling.answer import DeliveryAnswer


def post(
    url: str,
    headers: dict[str, str],
    body: bytes,
    *,
    agent: str,
    proxy: str | None = None,
    reach: NetworkReach = PUBLIC,
) -> DeliveryAnswer:
    """Sends a body and waits for the answer."""
    answer = request(url, headers=headers, body=body, agent=agent, proxy=proxy, reach=reach)
    return DeliveryAnswer(
        status=answer.status, error=answer.error, retry_after=_seconds(answer.headers.get("retry-after", ""))
    )


def _seconds(text: str) -> float:
    """Reads a Retry-After header, which holds seconds or a date."""
    seconds = whole_number(text)
    if seconds is not None:
        return float(seconds)
    until = moment(text)
    return max(0.0, until - time.time()) if until is not None else 0.0
