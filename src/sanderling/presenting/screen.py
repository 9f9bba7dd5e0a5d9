"""Formats sizes, durations and text from the web for a terminal."""

import json
import os
import re
import sys
import time
import unicodedata
from typing import IO

# Characters that reorder or hide the text beside them. They are replaced like control characters.
_TREACHEROUS = {*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF}


# The same characters and line separators, for JSON.
_RAW = re.compile(
    "[\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\uf8ff\ufeff"
    "\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)

SAID_EVERY = 2.0


def harmless(text: str) -> str:
    """Replaces characters that could control the terminal or change the direction of the line."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co") and ord(c) not in _TREACHEROUS else "\ufffd"
        for c in text
    )


def harmless_json(encoded: str) -> str:
    """JSON whose strings hold none of these characters: they are escaped, so that nothing is
    lost."""
    return _RAW.sub(lambda found: json.dumps(found[0])[1:-1], encoded)


def say(line: str) -> None:
    """Writes progress or a note for the user to standard error."""
    sys.stderr.write(f"sanderling: {line}\n")


class NowAndThen:
    """Says on standard error how far something is, at most every two seconds."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def say(self, line: str) -> None:
        if time.monotonic() - self._said >= SAID_EVERY:
            self._said = time.monotonic()
            say(line)


def colourful(stream: IO[str]) -> bool:
    """Whether to use colours: only on a terminal that has them, and not if NO_COLOR is set
    (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def many(count: int, noun: str, plural: str = "") -> str:
    """A number and its noun: `1 page`, `2,000 pages`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def rate_of(a_second: float) -> str:
    return f"{a_second:,.0f}/s" if a_second >= 10 else f"{a_second:.1f}/s"


def interval(seconds: float) -> str:
    """A duration that somebody has chosen: `10 min`, `2 h`, `1 day`."""
    for unit, name in ((86_400, "day"), (3600, "h"), (60, "min")):
        if seconds % unit == 0:
            return many(int(seconds // unit), name, "days" if name == "day" else name)
    return f"{seconds:g} s"


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"
