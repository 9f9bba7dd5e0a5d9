"""The child process that reads untrusted documents: its limits, crashes and end."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sanderling.processes import entry_points
from sanderling.processes.sandboxed import ChildFailed, SandboxedChild
from tests.waiting import PATIENCE, until

CHILD = """
import os, sys, time
from sanderling.processes.sandboxed import serve

def answer(request):
    match request:
        case b"pid":
            return b"%d" % os.getpid()
        case b"network":
            return os.readlink("/proc/self/ns/net").encode()
        case b"privileges":
            with open("/proc/self/status") as file:
                return next(line for line in file if line.startswith("NoNewPrivs")).split()[1].encode()
        case b"hoard":
            return bytes(1 << 30)
        case b"spin":
            while True:
                pass
        case b"sleep":
            time.sleep(1000)
        case b"die":
            os.kill(os.getpid(), 9)
        case b"raise":
            raise KeyError("no such page")
        case b"flood":
            return bytes(200 << 20)
    return request[::-1]

serve(answer)
"""


@pytest.fixture
def entry_point(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    (tmp_path / "odd_child.py").write_text(CHILD)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, sys.path)]))
    monkeypatch.setitem(entry_points.ENTRY_POINTS, "odd", "odd_child")
    return "odd"


def test_a_child_has_no_network_and_gets_no_new_privileges(entry_point: str) -> None:
    with SandboxedChild(entry_point, 512 << 20, PATIENCE) as child:
        assert child.ask(b"privileges") == b"1"
        alone = child.ask(b"network").decode() != str(Path("/proc/self/ns/net").readlink())
    how = ["unshare", "-n", "true"] if os.geteuid() == 0 else ["unshare", "-Un", "true"]
    assert alone or subprocess.run(how, capture_output=True).returncode


def test_one_child_answers_many_requests(entry_point: str) -> None:
    with SandboxedChild(entry_point, 512 << 20, PATIENCE) as child:
        pid = child.ask(b"pid")
        assert child.ask(b"abc") == b"cba"
        assert child.ask(b"") == b""
        large = os.urandom(5_000_000)
        assert child.ask(large) == large[::-1]
        assert child.ask(b"pid") == pid


def test_none_is_started_before_it_is_needed(entry_point: str) -> None:
    with SandboxedChild(entry_point, 512 << 20, PATIENCE) as child:
        assert child._child is None


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (b"hoard", "the reader needed more than 256 MiB"),
        (b"spin", "the reader needed more than 0.5 s"),
        (b"sleep", "the reader needed more than 0.5 s"),
        (b"die", "the reader ended with signal 9"),
        (b"raise", "KeyError: 'no such page'"),
        (b"flood", "the reader found more than 128 MiB"),
    ],
)
def test_what_has_no_answer_has_a_reason_and_the_next_an_answer(entry_point: str, request_: bytes, reason: str) -> None:
    memory = 512 if request_ == b"flood" else 256
    # Only what never ends is ended by the clock: a busy machine takes seconds for a flood.
    seconds = 0.5 if "0.5 s" in reason else PATIENCE
    with SandboxedChild(entry_point, memory << 20, seconds) as child:
        for _ in range(2):
            with pytest.raises(ChildFailed, match=reason):
                child.ask(request_)
        child._seconds = PATIENCE
        assert child.ask(b"abc") == b"cba"


def test_what_others_left_behind_counts_against_nobody(entry_point: str) -> None:
    """A child that dies because of an earlier document is replaced, and the request is repeated."""
    with SandboxedChild(entry_point, 512 << 20, PATIENCE) as child:
        os.kill(int(child.ask(b"pid")), signal.SIGKILL)
        assert child.ask(b"abc") == b"cba"


def test_threads_take_turns(entry_point: str) -> None:
    found: list[bytes] = []
    with SandboxedChild(entry_point, 512 << 20, PATIENCE) as child:
        asking = [threading.Thread(target=lambda n=n: found.append(child.ask(b"%03d" % n))) for n in range(20)]
        for each in asking:
            each.start()
        for each in asking:
            each.join()
    assert sorted(each[::-1] for each in found) == [b"%03d" % n for n in range(20)]


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "os._exit(0)", "pass"])
def test_it_does_not_outlive_its_parent(entry_point: str, end: str) -> None:
    """The child ends with the parent, even while it answers a request."""
    code = (
        "import os, sys, threading, time\n"
        "from sanderling.processes import entry_points\n"
        "from sanderling.processes.sandboxed import SandboxedChild\n"
        "entry_points.ENTRY_POINTS['odd'] = 'odd_child'\n"
        f"child = SandboxedChild('odd', 512 << 20, 1.0)\n"
        "print(child.ask(b'pid').decode(), flush=True)\n"
        "threading.Thread(target=child.ask, args=[b'spin'], daemon=True).start()\n"
        f"time.sleep(0.2)\n{end}\n"
    )
    ended = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    pid = int(ended.stdout)
    assert "Warning" not in ended.stderr
    until(lambda: not Path(f"/proc/{pid}").exists())
