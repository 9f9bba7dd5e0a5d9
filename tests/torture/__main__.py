"""`python -m tests.torture --minutes 60`: random faults against whole crawls, compared with the
truth."""

import argparse
import random
import sys
import time
from collections import Counter

from tests.torture import names, rounds

_ABOUT = """Runs rounds of random faults until the time is over, on SQLite and PostgreSQL in turn. The first
failure ends it with code 1 and names the seed of its round; `--seed N --rounds 1` repeats that round."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=_ABOUT)
    parser.add_argument("--minutes", type=float, default=2.0, help="how long to go on (default 2)")
    parser.add_argument("--rounds", type=int, default=0, help="stop after so many rounds instead")
    parser.add_argument("--seed", type=int, default=None, help="of the first round; the next has the next number")
    parser.add_argument("--store", choices=["both", "sqlite", "postgresql"], default="both")
    parser.add_argument("--only", choices=rounds.COURSES, action="append", help="rounds of this kind")
    parser.add_argument("--small", action="store_true", help="small webs and fewer faults")
    options = parser.parse_args()
    first = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 30)
    courses = rounds.possible(options.only or list(rounds.COURSES))
    if not courses:
        _say("this machine allows no such round")
        return 2
    return _torture(first, options.minutes * 60, options.rounds, options.store, courses, options.small)


def _torture(first: int, seconds: float, most: int, store: str, courses: list[str], small: bool) -> int:
    began, done, pages, starts = time.monotonic(), 0, 0, 0
    hosts = names.private_names()
    if hosts is None:
        _say("without failures of name resolution: this user may not mount anything")
    happened: Counter[str] = Counter()
    while (done < most) if most else (time.monotonic() - began < seconds):
        seed = first + done
        # Even seeds are on PostgreSQL, so that a seed alone repeats its round.
        database = store == "postgresql" or (store == "both" and seed % 2 == 0)
        course = random.Random(~seed).choice(courses)
        kind = f"{course} on {'PostgreSQL' if database else 'SQLite'}"
        started = time.monotonic()
        try:
            result = rounds.run(seed, database, hosts, course, small)
        except AssertionError as error:
            _say(f"round {seed}, {kind} failed: {error}")
            return 1
        done, pages, starts = done + 1, pages + result.pages, starts + result.starts
        happened += result.happened
        took = time.monotonic() - started
        _say(f"round {seed}, {kind}: {result.pages} pages, {sum(result.happened.values())} faults, {took:.0f} s")
    listed = ", ".join(f"{name} {count}" for name, count in happened.most_common())
    _say(f"{done} rounds, {pages} pages, {starts} starts of a command, {sum(happened.values())} faults ({listed})")
    _say("nothing lost, nothing doubled, every record readable, every total right, no process and no descriptor left")
    return 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
