"""Sends one message to the endpoint of a webhook."""

import time
from email.utils import parsedate_to_datetime

from sanderling.network.one_request import request
from sanderling.telling.webhook import DeliveryAnswer


def post(
    url: str, headers: dict[str, str], body: bytes, *, agent: str, proxy: str | None = None, private: bool = False
) -> DeliveryAnswer:
    """Sends a body and waits for the answer. `private` allows loopback and private addresses."""
    answer = request(url, headers=headers, body=body, agent=agent, proxy=proxy, private=private)
    return DeliveryAnswer(
        status=answer.status, error=answer.error, retry_after=_seconds(answer.headers.get("retry-after", ""))
    )


def _seconds(text: str) -> float:
    """Reads a Retry-After header, which holds seconds or a date."""
    if text.isdecimal():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0
