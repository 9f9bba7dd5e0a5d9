"""Processes that compute a result."""

import sys
from pathlib import Path

from sanderling.processes.job import Job
from tests.waiting import until


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_brings_a_result_as_often_as_it_is_begun(tmp_path: Path) -> None:
    errand = Job(python("import sys, os; open(sys.argv[1], 'x').write(str(os.getpid()))"), tmp_path / "result")
    assert not errand.out and not errand.back()
    found = set()
    for _ in range(2):
        errand.begin()
        assert errand.out
        until(errand.back)
        assert not errand.out and not errand.complaint
        found.add(errand.result.read_text())
    assert len(found) == 2


def test_says_why_it_brings_nothing(tmp_path: Path) -> None:
    errand = Job(python("import sys; sys.exit('first\\nno memory left')"), tmp_path / "result")
    errand.begin()
    until(errand.back)
    assert errand.complaint == "no memory left"
    for code, said in (("os._exit(3)", "code 3"), ("os.kill(os.getpid(), 9)", "it was ended by signal 9, ")):
        silent = Job(python(f"import os; {code}"), tmp_path / "result")
        silent.begin()
        until(silent.back)
        assert silent.complaint.startswith(said)


def test_is_ended_when_nobody_waits_for_it_any_more(tmp_path: Path) -> None:
    errand = Job(python("import time; time.sleep(600)"), tmp_path / "result")
    errand.begin()
    errand.close()
    assert not errand.out and not errand.back()
