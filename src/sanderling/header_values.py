"""Numbers and dates in the headers of strangers.

`str.isdigit` accepts `²`, for which `int` raises, and thousands of digits, which `int` refuses. So
a number here is a few ASCII digits, or it is absent.
"""

from email.utils import parsedate_to_datetime
from typing import Final

# 10**18 still fits into 64 bits, as bytes or as seconds.
MOST_DIGITS: Final = 18
_LONGEST_DATE: Final = 100


def whole_number(text: str | bytes, digits: int = MOST_DIGITS) -> int | None:
    """The number that a header says; None for anything but at most `digits` ASCII digits."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


def moment(text: str) -> float | None:
    """Seconds since 1970 of an HTTP date; None for anything else."""
    if not text.isascii():
        return None
    try:
        return parsedate_to_datetime(text[:_LONGEST_DATE]).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError, OSError):
        return None
