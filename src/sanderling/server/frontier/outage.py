"""Whether it is the network that is away, or only some hosts. No page is blamed for what the
network did.

When visits to three hosts or more, one after the other, bring no answer, it is in doubt. Then the
hosts that answered last in this run are asked whether they can be reached (through a proxy: whether
that can be). If one can, the network is there, and who is silent is dead: pages are tried again and
fail as ever. If none can, the network is away: no page is handed out but one now and then, none is
blamed, and those hosts are asked again until one of them, or a page, answers.

Where no host has answered in this run, and with one or two silent hosts, there is no way to tell
the network from a host, and the hosts are taken for dead. Only a refresh knows better, since all of
its hosts have answered before: it asks the silent ones themselves, however few there are.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future

from sanderling.errors import RunFailed
from sanderling.model import Host, Outcome, Visit

_log = logging.getLogger("sanderling")

# This many visits in a row without an answer, to this many hosts, are no accident.
SILENCE, HOSTS = 5, 3
# For this many seconds, and until what was in doubt has been tried again, it is believed that the
# network is there.
BELIEVED = 15.0
# After how long a run that is to end gives up, in seconds, and how often a network that went away
# is looked for: after the first pause, after twice as long each time, and by who gives up at least
# so often.
PATIENCE, FIRST_PROBE, LONGEST_PROBE, OFTEN = 60.0, 2.0, 300.0, 10.0

Say = Callable[[str], None]  # tells the user
Reached = Callable[[list[str]], bool]  # whether one of these hosts, by their origins, can be reached


class Connectivity:
    """Listens to answers, and to their absence."""

    def __init__(
        self, reached: Reached, retry_wait: float, returns: bool = False, gives_up: bool = True, say: Say = _log.warning,
    ) -> None:  # fmt: skip
        """A run that `returns` asks hosts that have answered before it began; one that `gives_up`
        does not wait for ever."""
        self._reached = reached
        self._believed = BELIEVED + retry_wait
        self._returns = returns
        self._gives_up = gives_up
        self._witnesses: deque[str] = deque(maxlen=HOSTS)  # answered last
        self._unanswered = 0
        self._silent: dict[str, None] = {}
        self._silent_since = 0.0
        self._asked: Future[bool] | None = None
        self._ask_at = 0.0
        self._pause = FIRST_PROBE
        self._away_since = 0.0
        self._may_look = False
        self._say = say

    @property
    def away(self) -> bool:
        return self._away_since > 0

    def hear(self, visits: Iterable[tuple[Visit, Host]], hosts: int = HOSTS) -> set[int]:
        """Takes note of a report's visits with their hosts; `hosts` are asked in all. Returns those
        for which no page is to blame."""
        silent: set[int] = set()
        for visit, host in visits:
            if visit.status or visit.outcome is Outcome.SOURCE:
                if host.origin not in self._witnesses:
                    self._witnesses.append(host.origin)
                # What was asked for before the silence began, and is reported now, says nothing of
                # it.
                if visit.at >= self._silent_since:
                    self._unanswered = 0
                    self._silent.clear()
                    silent.clear()
                    self._is_there()
            elif visit.outcome is Outcome.RETRY:
                self._silent_since = self._silent_since if self._unanswered else visit.at
                self._unanswered += 1
                self._silent[host.origin] = None
                silent.add(visit.id)
        in_doubt = self._unanswered >= SILENCE and len(self._silent) >= min(HOSTS, hosts)
        if in_doubt and not self.away and time.monotonic() >= self._ask_at:
            self._ask()
        return silent if self.away or self._asked is not None else set()

    def room(self, room: int, leased: int) -> int:
        """How many of `room` leases there may be: while the network is away, one now and then."""
        if not self.away:
            return room
        if leased or not self._may_look:
            return 0
        self._may_look = False
        return min(room, 1)

    def step(self) -> None:
        """To be called now and then."""
        now = time.monotonic()
        if self._asked is not None and self._asked.done():
            if self._asked.result():
                self._is_there()
            else:
                self._asked = None
                self._is_away(now)
        if self.away and self._gives_up and now - self._away_since > PATIENCE:
            raise RunFailed(
                f"stopped: no host has answered for {PATIENCE:.0f} s; no page was marked for it: "
                "run it again when the network is back"
            )
        if self.away and now >= self._ask_at:
            self._pause = min(self._pause * 2, OFTEN if self._gives_up else LONGEST_PROBE)
            self._ask_at = now + self._pause
            self._may_look = True
            self._ask()

    def _ask(self) -> None:
        """Finds out whether anybody can be reached, in a thread: that may take as long as a
        time-out."""
        origins = list(self._witnesses)
        if self._returns and not origins:
            origins = list(self._silent)[:HOSTS]
        if origins and self._asked is None:
            asked = self._asked = Future()
            threading.Thread(target=lambda: _settle(asked, self._reached, origins), daemon=True).start()

    def _is_away(self, now: float) -> None:
        if not self.away:
            self._away_since = now
            self._pause = FIRST_PROBE
            self._ask_at = now + self._pause
            self._say("no host answers: the network seems to be away; waiting for it")

    def _is_there(self) -> None:
        if self._asked is None and not self.away:
            return
        now = time.monotonic()
        self._asked = None
        self._ask_at = now + self._believed
        if self.away:
            self._say(f"the network is back after {now - self._away_since:.0f} s")
            self._away_since = 0.0


def _settle(asked: "Future[bool]", reached: Reached, origins: list[str]) -> None:
    try:
        asked.set_result(reached(origins))
    except OSError:  # nothing is left to ask with, such as descriptors: all goes on as ever
        asked.set_result(True)
    except BaseException as error:
        asked.set_exception(error)
