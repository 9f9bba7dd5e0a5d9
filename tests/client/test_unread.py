"""What a response says about when to ask again."""

from email.utils import formatdate

import pytest

from sanderling.client.unread import _retry_after


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        ("7", "", 7.0),
        ("²", "", 0.0),
        ("soon", "", 0.0),
        (formatdate(1_000_060, usegmt=True), formatdate(1_000_000, usegmt=True), 60.0),
        (formatdate(1_000_000, usegmt=True), formatdate(1_000_060, usegmt=True), 0.0),
        (formatdate(1_000_060, usegmt=True), "no date", 0.0),
    ],
)
def test_a_date_is_compared_with_that_of_the_response(value: str, date: str, seconds: float) -> None:
    """Not with our clock, which may be hours wrong."""
    assert _retry_after(value, date) == seconds
