"""When the announcer spares the machine: at times of the day, or while it is busy. Only the
watching goes on."""

from __future__ import annotations

import os
import re
import time
from typing import NamedTuple

from sanderling_announce.errors import WrongUse, quoted

_TIMES = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)-([01]?\d|2[0-4]):([0-5]\d)")
_LOAD = re.compile(r"load\s*>\s*(\d+(?:\.\d+)?)")


class Quiet(NamedTuple):
    times: tuple[tuple[int, int], ...] = ()  # minutes of the day, from and to
    load: float = float("inf")  # of the last minute

    def now(self, at: float) -> bool:
        clock = time.localtime(at)
        minute = clock.tm_hour * 60 + clock.tm_min
        for start, end in self.times:
            if start <= minute < end if start <= end else minute >= start or minute < end:
                return True
        return self.load < float("inf") and os.getloadavg()[0] > self.load


def quiet_of(times: list[str], when: list[str]) -> Quiet:
    """Reads `--quiet 08:00-18:00` and `--quiet-when 'load>2'`."""
    spans = []
    for text in times:
        found = _TIMES.fullmatch(text.strip())
        if not found:
            raise WrongUse(f"{quoted(text)} is not a time of the day such as 08:00-18:00")
        spans.append((int(found[1]) * 60 + int(found[2]), int(found[3]) * 60 + int(found[4])))
    load = float("inf")
    for text in when:
        found = _LOAD.fullmatch(text.strip())
        if not found:
            raise WrongUse(f"{quoted(text)} is not a condition such as 'load>2'")
        if not hasattr(os, "getloadavg"):
            raise WrongUse(f"this system does not say its load, so {quoted(text)} cannot be a condition")
        load = min(load, float(found[1]))
    return Quiet(tuple(spans), load)
