"""Child processes: what they say, why they ended, and that they end."""

import sys
import time

from sanderling.processes.child import Child
from tests.waiting import PATIENCE, until


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_child_tells_whole_lines() -> None:
    child = Child(python("import sys; print(sys.stdin.readline(), 'two\\nrest', end='')"), lifeline=True, tells=True)
    child.send(b"one")
    told: list[str] = []
    until(lambda: told.extend(child.told()) or len(told) == 2)
    child.end(PATIENCE)
    assert [*told, *child.told()] == ["one", " two"]
    child.close()


def test_a_child_complains_with_its_last_line() -> None:
    child = Child(python("import sys; sys.exit('first\\nno memory left')"))
    until(lambda: child.code is not None)
    assert child.code == 1 and child.complaint() == "no memory left"
    child.close()


def test_a_child_that_is_let_go_finishes_and_ends() -> None:
    child = Child(python("import sys; sys.stdin.read(); sys.exit(3)"), lifeline=True)
    child.let_go()
    child.end(PATIENCE)
    assert child.code == 3
    child.close()


def test_a_child_that_does_not_end_is_ended() -> None:
    began = time.monotonic()
    child = Child(python("import time; time.sleep(600)"))
    child.close()
    assert child.code == -9 and time.monotonic() - began < PATIENCE


def test_nothing_is_sent_to_a_child_that_is_gone() -> None:
    child = Child(python("pass"), lifeline=True)
    until(lambda: child.code is not None)
    child.send(b"x" * 100_000)
    child.close()
