"""Measures a command: wall time, CPU time and peak memory of its whole process tree.

A supervisor process runs between the bench and the command. It is a *subreaper*: a descendant whose
parent dies becomes its child. So every descendant is waited for below the supervisor, and the
kernel adds up their CPU time. Other children of the bench, such as nginx, are not in the sum.

    python -m bench.measure COMMAND...
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.places import REPOSITORY, BenchError

PR_SET_CHILD_SUBREAPER = 36
SAMPLE_EVERY = 0.2
GRACE = 5.0
LONGEST = 3600.0
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Weight:
    wall: float
    cpu: float
    peak_mib: float
    cpu_by_process: list[float]
    exit_code: int
    machine_cpu: float
    """CPU seconds of every process meanwhile, and those the host machine took away (steal)."""


@dataclass(frozen=True)
class Outcome:
    weight: Weight
    stdout: str
    stderr: str

    def last_json(self) -> dict[str, object]:
        """The JSON object on the last line of standard output, which contains a command's
        counts."""
        lines = self.stdout.strip().splitlines()
        try:
            report = json.loads(lines[-1])
        except (IndexError, ValueError) as error:
            raise BenchError(f"The command ended without a JSON report. Its last words: {self.last_words}") from error
        return dict(report)

    @property
    def last_words(self) -> str:
        return "\n".join((self.stderr or self.stdout).strip().splitlines()[-15:])


def measure(command: list[str]) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="bench-measure-") as folder:
        report, out, err = (Path(folder, name) for name in ("weight", "out", "err"))
        supervisor = [sys.executable, "-m", "bench.measure", "--report", str(report), *command]
        # Installed crawlers have their byte code. One that runs from its sources may keep it too.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        with out.open("wb") as stdout, err.open("wb") as stderr:
            subprocess.run(supervisor, cwd=REPOSITORY, stdout=stdout, stderr=stderr, env=environment)
        if not report.exists():
            raise BenchError(f"The measured command could not be run: {err.read_text().strip()}")
        weight = Weight(**json.loads(report.read_text()))
        return Outcome(weight, out.read_text(errors="replace"), err.read_text(errors="replace"))


@dataclass
class _Sampler:
    """Samples all descendants of this process five times a second."""

    peak_kib: int = 0
    ticks: dict[tuple[int, str], int] = field(default_factory=dict)
    ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.ended.wait(SAMPLE_EVERY):
            self.sample()

    def sample(self) -> None:
        memory = 0
        for pid, stat in descendants(os.getpid()).items():
            self.ticks[pid, stat[19]] = int(stat[11]) + int(stat[12])
            memory += proportional_kib(pid)
        self.peak_kib = max(self.peak_kib, memory)


def descendants(ancestor: int) -> dict[int, list[str]]:
    """Fields 3.. of /proc/PID/stat (state, parent, ...) of every process below `ancestor`."""
    stats: dict[int, list[str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                # A command name may contain spaces and brackets, so only the part after the last
                # bracket is split.
                stats[int(entry.name)] = (entry / "stat").read_text().rpartition(")")[2].split()
    below: dict[int, list[str]] = {}
    parents = {ancestor}
    while parents:
        parents = {pid for pid, stat in stats.items() if int(stat[1]) in parents and pid not in below}
        below.update((pid, stats[pid]) for pid in parents)
    return below


def machine_cpu() -> float:
    """CPU seconds since the start in which this machine was not idle, including stolen time."""
    user, nice, system, _idle, _iowait, *rest = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    return sum(map(int, (user, nice, system, *rest))) / TICK


def proportional_kib(pid: int) -> int:
    """PSS: memory that processes share is divided among them, so that the sum over a tree is
    correct."""
    with contextlib.suppress(OSError):
        for line in Path("/proc", str(pid), "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def _supervise(command: list[str]) -> Weight:
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this kernel has no subreapers")
    sampler = _Sampler()
    busy = machine_cpu()
    begin = time.perf_counter()
    child = subprocess.Popen(command)
    watch = threading.Thread(target=sampler.run, daemon=True)
    watch.start()
    alarm = threading.Timer(LONGEST, lambda: _end_tree(signal.SIGKILL))
    alarm.daemon = True
    alarm.start()
    exit_code: int | None = None
    while exit_code is None:
        pid, status, _ = os.wait4(-1, 0)
        if pid == child.pid:
            exit_code = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - begin
    busy = machine_cpu() - busy
    alarm.cancel()
    sampler.ended.set()
    watch.join()
    _reap_stragglers()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    # If a parent ignores SIGCHLD, the kernel drops the times of its children. The samples contain
    # most of them.
    by_process = sorted((ticks / TICK for ticks in sampler.ticks.values()), reverse=True)
    cpu = max(usage.ru_utime + usage.ru_stime, sum(by_process))
    return Weight(wall, cpu, sampler.peak_kib / 1024, by_process, exit_code, busy)


def _reap_stragglers() -> None:
    """Ends the processes that the command left running, and waits for them."""
    _end_tree(signal.SIGTERM)
    killer = threading.Timer(GRACE, lambda: _end_tree(signal.SIGKILL))
    killer.daemon = True
    killer.start()
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait4(-1, 0)
    killer.cancel()


def _end_tree(how: signal.Signals) -> None:
    for pid in descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)


def main(arguments: list[str]) -> int:
    report: Path | None = None
    if arguments[:1] == ["--report"]:
        _, value, *arguments = arguments
        report = Path(value)
    if not arguments:
        print("usage: python -m bench.measure COMMAND...", file=sys.stderr)
        return 2
    try:
        weight = _supervise(arguments)
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    if report:
        report.write_text(json.dumps(asdict(weight)))
    else:
        print(json.dumps(asdict(weight)), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
