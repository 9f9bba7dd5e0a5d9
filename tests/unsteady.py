"""A test that fails beside others runs once more, alone: one that passes then is reported as
unsteady, and does not fail the run.

The tests start real processes on machines that others may keep busy. What is broken fails twice.
"""

import subprocess
import sys
from collections.abc import Generator
from typing import Any

import pytest

from tests.surviving import Surviving, SurvivingScheduling

# If more tests fail, something is broken, and a machine alone will not mend it.
MOST = 10
# For one test; longer than its own time-out.
SECONDS = 400.0

TITLE = "unsteady: failed beside others, passed alone"


class Unsteady:
    """The plugin of the process that hands tests to workers."""

    def __init__(self, surviving: Surviving) -> None:
        self._surviving = surviving
        self._reports: list[Any] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, bool, bool]:
        done = yield
        stats = session.config.pluginmanager.get_plugin("terminalreporter").stats
        failed = [each for kind in ("failed", "error") for each in stats.get(kind, [])]
        tests = list(dict.fromkeys(each.nodeid for each in failed))
        if session.shouldstop or session.shouldfail or len(tests) > MOST:
            return done
        passed = {each for each in tests if isinstance(each, str) and self._passes(session, each)}
        for kind in ("failed", "error"):
            if kind in stats:
                stats[kind] = [each for each in stats[kind] if each.nodeid not in passed]
        self._reports = [each for each in failed if each.nodeid in passed]
        if self._reports:
            stats["unsteady"] = self._reports
            session.testsfailed -= len(self._reports)
        return done

    def _passes(self, session: pytest.Session, test: str) -> bool:
        self._surviving.hear()
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={session.config.rootpath}"]
        try:
            ran = subprocess.run(
                [*words, test],
                cwd=session.config.rootpath,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            return False
        return ran.returncode == 0

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self._reports:
            return
        terminalreporter.section(TITLE, yellow=True)
        for report in self._reports:
            terminalreporter.write_sep("_", report.nodeid)
            terminalreporter.write_line(report.longreprtext)
        for report in self._reports:
            terminalreporter.write_line(f"UNSTEADY {report.nodeid}", yellow=True)


def pytest_configure(config: pytest.Config) -> None:
    is_worker = hasattr(config, "workerinput")
    if config.getoption("dist", "no") != "no" and not is_worker:
        surviving = Surviving()
        config.pluginmanager.register(surviving, "surviving")
        config.pluginmanager.register(Unsteady(surviving), "unsteady")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> SurvivingScheduling | None:
    return SurvivingScheduling(config, log) if config.getoption("dist", "no") == "loadfile" else None
