"""A cluster for one crawl: starts its head here and a node on every host that ssh reaches, and
stops what it started.

Every node is started with a pipe as its standard input, and leaves the cluster when that ends. So
nothing is left when this process is killed: then the pipes end, too. Token and certificates are
made for this crawl; hosts get them through their pipe.
"""

import base64
import contextlib
import json
import os
import selectors
import shlex
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from sanderling import __version__
from sanderling.cluster.credentials import FOLDER, Credentials, write_private
from sanderling.errors import RunFailed, UsageError
from sanderling.processes import entry_points
from sanderling.processes.scratch import scratch

# A host answers within this time, and a node is part of the cluster within the next one.
ANSWERS, JOINS = 30.0, 240.0
LEAVES = 15.0
# ssh asks for nothing: there may be no terminal, and there are many hosts. It notices a dead host.
_SSH = ["-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15"]
_HANDED_OVER = ("token", "ca.pem", "ca.key")
_READ = "SANDERLING_INPUT_READ"  # set when the first line was read: a node may start itself again


class Reached(NamedTuple):
    """What a host said when it was asked."""

    host: str
    own: str  # its address
    ours: str  # the address of this machine, as the host sees it


def hosts_in(text: str) -> list[str]:
    """The hosts of a list with commas."""
    found = [host.strip() for host in text.split(",")]
    if not all(found) or len(set(found)) != len(found):
        raise UsageError(f"--hosts {text!r} is not a list of different hosts, with commas between them")
    if wrong := [host for host in found if host.startswith("-") or any(c.isspace() for c in host)]:
        raise UsageError(f"--hosts: {wrong[0]!r} is not the name of a host")
    return found


@contextlib.contextmanager
def cluster_of(hosts: Sequence[str], ssh: str, program: str) -> Iterator[str]:
    """Starts a cluster; gives the address of its head."""
    reached = _ask(hosts, [*shlex.split(ssh), *_SSH], program)
    own = reached[0].ours
    if other := [each for each in reached if each.ours != own]:
        raise RunFailed(
            f"{reached[0].host} sees this machine at {own}, and {other[0].host} at {other[0].ours}: the machines of a cluster "
            "need one network; start it with `sanderling cluster start --own ADDRESS` instead"
        )
    with scratch("hosts") as place, _credentials(place) as credentials, contextlib.ExitStack() as nodes:
        credentials.make_authority()
        address = f"{own}:{_free_port(own)}"
        start = (
            "cluster",
            "start",
            "--own",
            own,
            "--port",
            address.rpartition(":")[2],
            "--weight",
            0,
            "--name",
            "server",
        )
        head = _Node("the head on this machine", entry_points.command("command", *start, "--attached"))
        nodes.callback(head.close)
        _wait_for([head])
        handed = json.dumps(
            {name: base64.b64encode((credentials.path / name).read_bytes()).decode() for name in _HANDED_OVER}
        )
        started = []
        for each in reached:
            join = (program, "cluster", "join", address, "--own", each.own, "--name", each.host, "--attached")
            node = _Node(each.host, [*shlex.split(ssh), *_SSH, each.host, shlex.join(join)], f"{handed}\n")
            nodes.callback(node.close)
            started.append(node)
        nodes.callback(_end_all, started)  # all at once, and before the head
        _wait_for(started)
        yield address


@contextlib.contextmanager
def _credentials(place: Path) -> Iterator[Credentials]:
    """Those of this crawl, for this process and its children."""
    before = os.environ.get(FOLDER)
    os.environ[FOLDER] = str(place / "cluster")
    try:
        yield Credentials()
    finally:
        if before is None:
            del os.environ[FOLDER]
        else:
            os.environ[FOLDER] = before


def _ask(hosts: Sequence[str], ssh: list[str], program: str) -> list[Reached]:
    """Asks all hosts at once which Sanderling they have, and how they and this machine reach each
    other."""
    question = f'echo "$SSH_CONNECTION"; {shlex.quote(program)} --version'
    asked = []
    for host in hosts:
        try:
            asked.append(
                subprocess.Popen(
                    [*ssh, host, question], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    text=True, start_new_session=True,
                )
            )  # fmt: skip
        except OSError as error:
            raise UsageError(f"{ssh[0]} cannot be run ({error.strerror}): install OpenSSH's client") from None
    try:
        return [_answer(host, process) for host, process in zip(hosts, asked, strict=True)]
    finally:
        for process in asked:
            process.kill()
            process.communicate()


def _answer(host: str, process: "subprocess.Popen[str]") -> Reached:
    try:
        said, complaint = process.communicate(timeout=ANSWERS)
    except subprocess.TimeoutExpired:
        raise RunFailed(f"{host} does not answer to ssh within {ANSWERS:.0f} s") from None
    lines = said.splitlines()
    if process.returncode:
        why = (complaint.strip().splitlines() or [f"code {process.returncode}"])[-1]
        hint = ": install it there, or name it with --hosts-program" if lines else ""
        raise RunFailed(f"{host} cannot be used through ssh ({why}){hint}")
    connection = lines[0].split() if lines else []
    if len(connection) != 4 or len(lines) < 2:
        raise RunFailed(f"{host} says {said[:80]!r} instead of its address and the version of Sanderling")
    if __version__ not in lines[1].split():
        raise RunFailed(f"{host} has {lines[1]}, and this machine {__version__}: install the same version")
    return Reached(host, connection[2], connection[0])


class _Node:
    """A process that runs a node as long as its standard input is open."""

    def __init__(self, name: str, command: list[str], first: str = "") -> None:
        self.name = name
        # Ctrl-C is for the crawl, which stops its nodes when it has ended.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        )
        self._said = b""
        with contextlib.suppress(BrokenPipeError):  # it says why
            self._input.write(first.encode())
            self._input.flush()

    @property
    def _input(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def fileno(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def joined(self) -> bool:
        """Reads what was said. Raises RunFailed when the node ended instead of joining."""
        data = os.read(self.fileno(), 1 << 16)
        self._said += data
        if b"until this command is stopped" in self._said:
            threading.Thread(target=self._drain, daemon=True).start()
            return True
        if not data:
            said = self._said.decode(errors="replace").strip().splitlines() or ["it did not say why"]
            raise RunFailed(f"{self.name} could not become part of the cluster: {said[-1]}")
        return False

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self._input.close()

    def close(self) -> None:
        self.end()
        try:
            self._process.wait(LEAVES)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)
            self._process.wait()

    def _drain(self) -> None:
        """What it says later is for nobody, but must not fill its pipe."""
        with contextlib.suppress(OSError):
            while os.read(self.fileno(), 1 << 16):
                pass


def _end_all(nodes: Sequence[_Node]) -> None:
    for node in nodes:
        node.end()


def _wait_for(nodes: Sequence[_Node]) -> None:
    deadline = time.monotonic() + JOINS
    with selectors.DefaultSelector() as selector:
        for node in nodes:
            selector.register(node, selectors.EVENT_READ, node)
        while waiting := selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                names = ", ".join(key.data.name for key in waiting.values())
                raise RunFailed(f"not part of the cluster within {JOINS:.0f} s: {names}")
            for key, _ in ready:
                if key.data.joined():
                    selector.unregister(key.fileobj)


def _free_port(address: str) -> int:
    with socket.create_server((address, 0), family=socket.AF_INET6 if ":" in address else socket.AF_INET) as taken:
        port: int = taken.getsockname()[1]
        return port


# ---- where a node runs


@contextlib.contextmanager
def attached(takes_credentials: bool) -> Iterator[None]:
    """Has this process end when its standard input does. Its first line may have the credentials of
    the cluster."""
    with contextlib.ExitStack() as kept:
        if takes_credentials:
            # When the node starts itself again, its input was read and the folder is not locked.
            handed = _files_in(Path(os.environ[FOLDER])) if _READ in os.environ else _files_in_first_line()
            place = kept.enter_context(scratch("joined")) / "cluster"
            place.mkdir(mode=0o700)
            for name, content in handed.items():
                write_private(place / name, content)
            os.environ[FOLDER], os.environ[_READ] = str(place), "yes"
        threading.Thread(target=_end_with_input, daemon=True).start()
        yield


def _files_in(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir()}


def _files_in_first_line() -> dict[str, bytes]:
    line = b""
    while not line.endswith(b"\n") and (data := os.read(0, 1)):  # not through a buffer: it takes what follows
        line += data
    try:
        handed = json.loads(line)
        return {name: base64.b64decode(handed[name]) for name in _HANDED_OVER}
    except (ValueError, KeyError, TypeError):
        raise UsageError("standard input has no credentials: --attached is for `sanderling crawl --hosts`") from None


def _end_with_input() -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 1 << 12):
            pass
    os.kill(os.getpid(), signal.SIGTERM)
