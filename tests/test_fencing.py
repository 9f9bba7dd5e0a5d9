"""Clients that stood still while their server died write into no archive when they wake."""

import os
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from sanderling.client.warc_writer import WarcWriter
from sanderling.repository import archives, fencing
from sanderling.testing import SyntheticWeb
from tests.conftest import FAST, PATIENT, Run, started, stored_urls
from tests.repository.test_warc import exchange
from tests.waiting import until

# Stops the client, as SIGSTOP from outside does, at the worst moment: before it writes to an
# archive that is partly committed, or before it makes a new one.
STOPPED_AT = """
import os, signal
from pathlib import Path
from sanderling.client.warc_writer import WarcWriter

call, place = WarcWriter.{step}, Path({place!r})

def stopping(self):
    written = self._file is not None and self._pending and self._file.tell()
    if (written or "{step}" == "_next_file") and not place.exists():
        place.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGSTOP)
    return call(self)

WarcWriter.{step} = stopping
"""
SOURCE = Path(__file__).parents[1] / "src"


def state(pid: int) -> str:
    """T for a process that is stopped; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


@pytest.mark.parametrize("step", ["flush", "_next_file"])
def test_a_client_that_wakes_after_its_server_died_writes_nowhere(tmp_path: Path, sanderling: Run, step: str) -> None:
    folder, place = tmp_path / "crawl", tmp_path / "stopped"
    (tmp_path / "sitecustomize.py").write_text(STOPPED_AT.format(step=step, place=str(place)))
    frozen = {**os.environ, "PYTHONPATH": f"{tmp_path}:{SOURCE}"}
    with SyntheticWeb(hosts=1, pages=60, seed=3).serve() as site:
        crawl = ("crawl", site.url, "-d", folder, *FAST, *PATIENT, "--clients", 1)
        with started(*crawl, env=frozen, stdout=subprocess.DEVNULL) as server:
            pid = until(lambda: place.exists() and int(place.read_text() or 0))
            until(lambda: state(pid) == "T")
            os.kill(server.pid, signal.SIGKILL)
            server.wait()
            assert sanderling(*crawl).code == 0
            finished = {path: path.read_bytes() for path in (folder / "warc").rglob("*") if path.is_file()}
            assert state(pid) == "T"
            os.kill(pid, signal.SIGCONT)
            until(lambda: state(pid) in ("", "Z"))
        expected = site.direct.reachable(0)
    assert {path: path.read_bytes() for path in (folder / "warc").rglob("*") if path.is_file()} == finished
    assert Counter(stored_urls(folder)) == Counter(expected)
    assert sanderling("check", folder, "--deep").code == 0


def test_a_lost_client_of_a_run_that_goes_on(tmp_path: Path) -> None:
    """Its file is taken from it; another client's is not."""
    run = tmp_path / "sanderling-run"
    run.mkdir()
    writers = [WarcWriter(tmp_path, name, place=run) for name in ("a", "b")]
    for writer in writers:
        writer.add(exchange(1))
    committed = {name: end for writer in writers for name, end in writer.flush().items()}
    assert not list(tmp_path.glob("*.warc.gz"))  # the server has not heard of them
    fencing.publish(run, committed)
    assert archives.set_aside(tmp_path, committed, "a") == []
    for writer in writers:
        writer.add(exchange(2))
        writer.close()
    sizes = {path.name[0]: path.stat().st_size - committed[path.name] for path in tmp_path.glob("*.warc.gz")}
    assert sizes["a"] == 0 < sizes["b"]


def test_new_files_of_a_dead_run(tmp_path: Path) -> None:
    """What is not committed is set aside. What is committed returns, should a power cut have undone
    its rename."""
    run = tmp_path / "sanderling-run"
    run.mkdir()
    known, unknown = WarcWriter(tmp_path, "known", place=run), WarcWriter(tmp_path, "unknown", place=run)
    known.add(exchange(1))
    unknown.add(exchange(2))
    committed = known.flush()
    unknown.flush()
    (done,) = archives.set_aside(tmp_path, committed)
    assert done.startswith("set unknown-") and not run.exists()
    assert [path.name for path in tmp_path.glob("*.warc.gz")] == list(committed)
    (orphan,) = archives.orphans(tmp_path)
    size = orphan.stat().st_size
    unknown.add(exchange(3))
    unknown.close()
    known.close()
    assert orphan.stat().st_size == size
    fresh = WarcWriter(tmp_path, "fresh", place=run)
    with pytest.raises(ConnectionError, match="the run is over"):
        fresh.add(exchange(4))
