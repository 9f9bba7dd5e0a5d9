"""Starts processes of Sanderling by a fork, from a process that has imported what they need.

`subprocess.Popen` does all it always does, except that the child goes on in this interpreter with
the module that it would have run in a new one. Streams, descriptors, signals, session, folder and
environment are those that a new interpreter would have.
"""

import atexit
import contextlib
import gc
import importlib
import os
import runpy
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sanderling.cli import COMMANDS, MODULES

# Only what opens no database: a library of SQLite that has one open in the parent does not work in
# the child. Not the readers of documents and images either: their memory is limited.
_FORKED = "sanderling.jobs.client"
# What an interpreter reads when it starts. A process with one of these needs its own.
FOR_INTERPRETERS = ("PYTHON", "LD_", "OPENBLAS", "SSL_", "RAY_", "LC_", "LANG", "MALLOC_")

_execute = subprocess.Popen._execute_child  # type: ignore[attr-defined]


def fork_children() -> None:
    subprocess.Popen._execute_child = _execute_child  # type: ignore[attr-defined]


def import_all() -> None:
    """What commands and the processes of a crawl need, except for heavy things that few need."""
    commands = (f"cli.{MODULES.get(each, each)}" for each in COMMANDS if each not in ("lab", "cluster"))
    for name in (*commands, "jobs.client", "server.loop", "web.app"):
        importlib.import_module(f"sanderling.{name}")
    gc.collect()
    gc.freeze()


def suits(changed: Mapping[str, str]) -> bool:
    return not any(name.startswith(FOR_INTERPRETERS) for name in changed)


def _execute_child(
    self: "subprocess.Popen[Any]", args: Any, executable: Any, preexec_fn: Any, close_fds: bool,
    pass_fds: Sequence[int], cwd: Any, env: Mapping[str, str] | None, startupinfo: Any, creationflags: Any,
    shell: bool, p2cread: int, p2cwrite: int, c2pread: int, c2pwrite: int, errread: int, errwrite: int,
    restore_signals: bool, gid: Any, gids: Any, uid: Any, umask: int, start_new_session: bool, process_group: int,
) -> None:  # fmt: skip
    words = _words(args, env)
    if words is None or executable or preexec_fn or shell or gid or gids or uid or process_group != -1 or umask != -1:
        _execute(
            self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo, creationflags, shell,
            p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite, restore_signals, gid, gids, uid, umask,
            start_new_session, process_group,
        )  # fmt: skip
        return
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    deaf = args[0] == "/bin/sh"
    pid = os.fork()
    if not pid:
        try:
            if start_new_session:
                os.setsid()
            _take_streams((p2cread, c2pwrite, errwrite), pass_fds)
            if cwd is not None:
                os.chdir(cwd)
            if env is not None:
                os.environ.clear()
                os.environ.update(env)
            become(words, deaf)
        finally:
            os._exit(255)
    self.pid = pid
    self._child_created = True  # type: ignore[attr-defined]
    self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)  # type: ignore[attr-defined]


def _words(args: Any, env: Mapping[str, str] | None) -> list[str] | None:
    """The module and the arguments of a process of Sanderling."""
    if not isinstance(args, list) or sys.executable not in args[:4]:
        return None
    interpreter = args.index(sys.executable)
    if interpreter and args[0] != "/bin/sh":
        return None
    flag, *words = [str(each) for each in args[interpreter + 1 :]]
    if flag != "-m" or words[0] != _FORKED:
        return None
    changed = {} if env is None else {name: value for name, value in env.items() if os.environ.get(name) != value}
    return words if suits(changed) else None


def _take_streams(streams: Sequence[int], others: Sequence[int]) -> None:
    for number, descriptor in enumerate([os.dup(each) if each != -1 else -1 for each in streams]):
        if descriptor != -1:
            os.dup2(descriptor, number)
    first = 3
    for other in sorted(others):
        os.closerange(first, other)
        os.set_inheritable(other, True)
        first = other + 1
    os.closerange(first, max(int(each.name) for each in Path("/proc/self/fd").iterdir()) + 1)


def become(words: list[str], deaf: bool = False) -> None:
    """Runs a module as a new interpreter would. Does not return."""
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    if deaf:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    elif signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    atexit._clear()
    gc.enable()
    gc.set_threshold(700, 10, 10)
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    sys.argv = words
    code = 0
    try:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        if isinstance(end.code, str):
            sys.stderr.write(end.code + "\n")
    except KeyboardInterrupt:
        traceback.print_exc()
        code = 130
    except BaseException:
        traceback.print_exc()
        code = 1
    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
