"""Runs commands in processes that need not import anything: they are forked from one that has.

A command of the tests is still a process of its own, with its own environment and streams. Most of
its time would be spent on imports: on two cores, a thousand commands import for six minutes.
"""

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.forking import become, fork_children, import_all

_LARGEST = 1 << 18


class ReadyProcess:
    """Forks one process for each command."""

    def __init__(self) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            words = [sys.executable, "-m", "tests.ready", str(theirs.fileno())]
            # From here: a test may be in another folder, where there is no such module.
            self._process = subprocess.Popen(
                words, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, cwd=Path(__file__).parent.parent
            )

    def close(self) -> None:
        self._requests.close()
        self._process.wait()

    def start(
        self, arguments: Sequence[str], env: Mapping[str, str], out: int, err: int, session: bool = False
    ) -> tuple[int, socket.socket]:
        """The process, and a line on which its exit code arrives. With `session`, it has a session
        of its own."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            asked = {"arguments": arguments, "env": dict(env), "folder": str(Path.cwd()), "session": session}
            socket.send_fds(self._requests, [json.dumps(asked).encode()], [theirs.fileno(), out, err])
        return int(ours.recv(64) or 0), ours

    def run(self, arguments: Sequence[str], env: dict[str, str], timeout: float) -> "subprocess.CompletedProcess[str]":
        """As `subprocess.run` with `capture_output`."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            pid, ended = self.start(arguments, env, out.fileno(), err.fileno())
            ended.settimeout(timeout)
            try:
                with ended:
                    code = int(ended.recv(64))
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(arguments, timeout, _text(out.fileno()), _text(err.fileno())) from None
            return subprocess.CompletedProcess(arguments, code, _text(out.fileno()), _text(err.fileno()))


@cache
def ready() -> ReadyProcess:
    """The one of this process of the tests. It ends with it."""
    return ReadyProcess()


class BesideTest(subprocess.Popen[str]):
    """A command that runs beside the test. It takes the options of `Popen` for output, environment
    and session."""

    def __init__(self, *arguments: object, **options: Any) -> None:
        super().__init__([str(each) for each in arguments], text=True, **options)

    def _execute_child(self, args: list[str], *others: Any) -> None:
        # Six of these are the ends of the three pipes: read and write for each; -1 for what is
        # inherited.
        environment, pipes, session = others[5], others[9:15], others[20]
        output, errors = (own if given == -1 else given for own, given in ((1, pipes[3]), (2, pipes[5])))
        environment = os.environ if environment is None else environment
        self.pid, self._ended = ready().start(args, environment, output, errors, session)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None:
            self._ended.settimeout(timeout)
            try:
                self.returncode = int(self._ended.recv(64))
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0) from None
            self._ended.close()
        return self.returncode

    def _internal_poll(self, *_: object, **__: object) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._wait(0.0)
        return self.returncode


def _text(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    with os.fdopen(os.dup(descriptor), encoding="utf-8") as file:
        return file.read()


def _serve(requests: socket.socket) -> list[str]:
    """Returns in every child, with its arguments. The first process ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    woken, wake = socket.socketpair()
    for each in (woken, wake):
        each.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    waiting: dict[int, socket.socket] = {}
    selector = selectors.DefaultSelector()
    selector.register(requests, selectors.EVENT_READ)
    selector.register(woken, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is woken:
                with contextlib.suppress(BlockingIOError):
                    woken.recv(4096)
                for pid in list(waiting):
                    ended, status = os.waitpid(pid, os.WNOHANG)
                    if ended:
                        with waiting.pop(pid) as answer, contextlib.suppress(OSError):
                            answer.send(b"%d" % os.waitstatus_to_exitcode(status))
                continue
            message, descriptors, _, _ = socket.recv_fds(requests, _LARGEST, 3)
            if not message:
                os._exit(0)
            answer = socket.socket(fileno=descriptors[0])
            pid = os.fork()
            if pid:
                waiting[pid] = answer
                for each in descriptors[1:]:
                    os.close(each)
                continue
            asked = json.loads(message)
            if asked["session"]:
                os.setsid()
            answer.send(b"%d" % os.getpid())
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            selector.close()
            for each in (requests, woken, wake, answer, *waiting.values()):
                each.close()
            return _becomes(asked, *descriptors[1:])


def _becomes(asked: dict, out: int, err: int) -> list[str]:  # type: ignore[type-arg]
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.close(out)
    os.close(err)
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["folder"])
    arguments: list[str] = asked["arguments"]
    return arguments


if __name__ == "__main__":
    import_all()
    arguments = _serve(socket.socket(fileno=int(sys.argv[1])))
    fork_children()
    become(["sanderling", *arguments])
