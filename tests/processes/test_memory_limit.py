"""Processes that parse what strangers wrote have a memory limit."""

import resource
import subprocess
import sys

from sanderling.processes import entry_points

_TAKES = """
import resource
from sanderling.processes.memory_limit import limit_memory, lift_memory_limit
limit_memory(100 << 20)
try:
    bytearray(200 << 20)
except MemoryError:
    print("refused")
lift_memory_limit()
bytearray(200 << 20)
print("lifted")
"""


def test_a_limited_process_gets_no_more_memory() -> None:
    said = subprocess.run([sys.executable, "-c", _TAKES], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["refused", "lifted"]


def test_every_command_that_may_read_pages_is_limited() -> None:
    code = "import sys, resource, sanderling.cli as c; c.main(sys.argv[1:]); print(resource.getrlimit(resource.RLIMIT_DATA)[0])"
    for arguments, limited in ((["search", "/nowhere", "x"], True), (["check", "/nowhere"], False)):
        said = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
        ).stdout
        assert (int(said) != resource.RLIM_INFINITY) == limited


def test_clients_and_the_index_limit_themselves() -> None:
    for job in ("client", "index"):
        module = sys.modules.get(entry_points.ENTRY_POINTS[job]) or __import__(
            entry_points.ENTRY_POINTS[job], fromlist=["limit_memory"]
        )
        assert module.limit_memory.__module__ == "sanderling.processes.memory_limit"
