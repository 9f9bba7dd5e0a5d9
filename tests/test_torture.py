"""Two rounds of random faults against whole crawls, one a store, beside the other tests. `python -m
tests.torture` runs for longer."""

import subprocess
import sys

import pytest

from sanderling.testing.postgres import PostgresMissing, programs


@pytest.mark.timeout(900)
def test_two_rounds_of_random_faults() -> None:
    """The seed is random and stands in the message of a failure: `--seed N --rounds 1 --small`
    with the same `--only` repeats its round. The second round has the other store. A cluster takes
    a minute of a processor to start, and has tests of its own."""
    only = [word for course in ("pages", "collection", "rendered") for word in ("--only", course)]
    command = [sys.executable, "-m", "tests.torture", "--rounds", "2", "--small", *only, "--store", _stores()]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert "nothing lost, nothing doubled" in done.stdout


def _stores() -> str:
    try:
        programs()
    except PostgresMissing:
        return "sqlite"
    return "both"
