"""Numbers and dates in what extractors said: how they are indexed, so that a search compares
them."""

import math
import re
import struct
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

# Two fields, each with integers only: tantivy 0.27 cannot compare a column of mixed types. The bits
# of a floating-point number are an integer in the same order. A date is the seconds since 1970.
NUMBERS, MOMENTS = "numbers", "moments"

_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].{1,30})?")
_COMPARISON = re.compile(
    r"(?P<sign>[<>]=?)(?P<value>.+)|(?P<low>(?:[^.\s]+(?:\.\d+)?)?)\.\.(?P<high>(?:[^.\s]+(?:\.\d+)?)?)"
)


class Range(NamedTuple):
    """What a value is compared with."""

    field: str
    low: float
    high: float
    with_low: bool
    with_high: bool

    def query(self, path: str) -> str:
        """In the query language of tantivy, for the path of a value."""
        opens, closes = "[" if self.with_low else "{", "]" if self.with_high else "}"
        name = re.sub(r"([^\w.])", r"\\\1", f"{self.field}.{path}")
        return f"{name}:{opens}{_written(self.low)} TO {_written(self.high)}{closes}"


def comparison(text: str) -> Range | str | None:
    """Reads `>50`, `<=2026-11-01`, `10..20` or `10..`; None for a text that compares nothing, and a
    sentence for one that cannot be compared."""
    asked = _COMPARISON.fullmatch(text.strip())
    if asked is None:
        return None
    if sign := asked["sign"]:
        bounds = [asked["value"], ""] if sign[0] == ">" else ["", asked["value"]]
    else:
        bounds = [asked["low"], asked["high"]]
    read = [(bound, _number(bound), moment(bound)) for bound in bounds if bound]
    for at, field in ((1, NUMBERS), (2, MOMENTS)):
        values = [each[at] for each in read]
        if read and None not in values:
            low, high = ((-math.inf, math.inf)[end] if not b else values.pop(0) for end, b in enumerate(bounds))
            return Range(field, low, high, sign != ">", sign != "<")  # type: ignore[arg-type]
    return f"only numbers and dates such as 2026-11-01 can be compared, not {text[:40]!r}" if sign else None


def comparable(data: Any) -> dict[str, dict[str, Any]]:
    """The numbers and the dates of some data, each with its path."""
    found = {NUMBERS: _only(data, _number_in), MOMENTS: _only(data, _moment_in)}
    return {field: values for field, values in found.items() if values}


def moment(text: str) -> float | None:
    if not _DATE.fullmatch(text):
        return None
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _only(value: Any, wanted: Any) -> Any:
    """The same data with nothing but wanted values; None without any."""
    if isinstance(value, Mapping):
        parts = {name: part for name, each in value.items() if (part := _only(each, wanted)) is not None}
        return parts or None
    if isinstance(value, list):
        return [part for each in value if (part := _only(each, wanted)) is not None] or None
    return wanted(value)


def _number_in(value: Any) -> int | None:
    return _ordered(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _moment_in(value: Any) -> int | None:
    at = moment(value) if isinstance(value, str) else None
    return _ordered(at) if at is not None else None


def _written(value: float) -> str:
    return "*" if math.isinf(value) else str(_ordered(value))


def _ordered(value: float) -> int:
    """An integer of 64 bits for each number, in the order of the numbers."""
    bits: int = struct.unpack(">q", struct.pack(">d", value + 0.0))[0]
    return bits if bits >= 0 else bits ^ 0x7FFF_FFFF_FFFF_FFFF
