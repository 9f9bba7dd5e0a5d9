"""Host names of our own, so that their resolution can fail: an /etc/hosts that only this process
and its children see."""

import atexit
import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

NAME = "torture.example"
_NEW_MOUNTS = 0x20000  # CLONE_NEWNS


def private_names() -> Path | None:
    """Takes the process out of the common mounts, with an /etc/hosts of its own; None where that is
    not allowed.

    To be called before threads are started. A resolver is not asked, so that every other name fails
    at once.
    """
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNTS):
        return None
    place = Path(tempfile.mkdtemp(prefix="torture-names-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    hosts, resolver = place / "hosts", place / "resolv.conf"
    resolver.write_text("nameserver 127.0.0.1\n")
    know(hosts)
    for source, target in ((hosts, "/etc/hosts"), (resolver, "/etc/resolv.conf")):
        if subprocess.run(["mount", "--bind", str(source), target], capture_output=True).returncode:
            return None
    return hosts


def know(hosts: Path) -> None:
    hosts.write_text(f"127.0.0.1 localhost\n127.0.0.1 {NAME}\n")


def forget(hosts: Path) -> None:
    hosts.write_text("127.0.0.1 localhost\n")
