"""A child process that reads what strangers sent, under hard limits of memory and time.

Parsers of images and documents are the part of a crawler that is attacked best: a file of a few
kilobytes may unpack to gigabytes or take hours. So the bytes go through a pipe to a child that
answers one request after the other. It may use little memory and processor time and write no file.
It has no network and gets no new privileges, where the system permits that.
Whatever happens to it, the parent gets an answer or a reason.

`SandboxedChild` is the parent's side, `serve` the child's.
"""

import atexit
import contextlib
import ctypes
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Final, Self

from sanderling.processes import entry_points

# No answer is longer.
MOST_BYTES: Final = 128 << 20

_LENGTH: Final = struct.Struct("<BQ")
_ANSWERED, _NO_MEMORY, _RAISED = range(3)
# How libraries in C++ and the dynamic loader end a process that gets no memory.
_WITHOUT_MEMORY: Final = (-signal.SIGABRT, 127)
_AT_A_TIME: Final = 1 << 20
# How much longer than its processor time a request may take on a busy machine.
_WAIT: Final = 4
_SECONDS_TO_START: Final = 30.0
_NO_NEW_PRIVILEGES: Final = 38  # PR_SET_NO_NEW_PRIVS
_NEW_NETWORK, _NEW_USER = 0x40000000, 0x10000000


class ChildFailed(ValueError):
    """The child has no answer; the text says why. The child raises it too, to say why."""


class _Ended(ChildFailed):
    """It died or ran out of memory."""


class SandboxedChild:
    """A child that is started with the first request, and started again when it died. Threads take
    turns."""

    def __init__(self, entry_point: str, memory: int, seconds: float) -> None:
        self._entry_point = entry_point
        self._memory = memory
        self._seconds = seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._ready = False  # the child has said that it is
        self._turn = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, request: bytes) -> bytes:
        """The child's answer; raises ChildFailed when there is none."""
        with self._turn:
            used = self._child is not None
            try:
                return self._answer(request)
            except _Ended:
                if not used:
                    raise
                return self._answer(request)  # what earlier requests left in memory does not count against this one

    def _answer(self, request: bytes) -> bytes:
        try:
            child = self._child or self._start()
        except OSError as error:
            raise ChildFailed(f"the reader could not be started: {error.strerror}") from None
        try:
            if not self._ready:
                _exchange(child, b"", _SECONDS_TO_START)
                self._ready = True
            status, answer = _exchange(child, _LENGTH.pack(0, len(request)) + request, self._seconds * _WAIT)
        except TimeoutError:
            self.close()
            raise ChildFailed(self._too_slow()) from None
        except OSError:
            self.close()
            raise self._cause(child.returncode) from None
        except BaseException:  # the answer to this request must not be taken for that to the next one
            self.close()
            raise
        if status == _NO_MEMORY:
            self.close()
            raise _Ended(self._too_large())
        if status == _RAISED:
            raise ChildFailed(answer.decode("utf-8", "replace"))
        return answer

    def close(self) -> None:
        child, self._child, self._ready = self._child, None, False
        if child is None:
            return
        atexit.unregister(self.close)
        child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        child.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        self._child = subprocess.Popen(
            entry_points.command(self._entry_point, self._memory, self._seconds),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        for pipe in (self._child.stdin, self._child.stdout):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
        atexit.register(self.close)
        return self._child

    def _cause(self, code: int) -> ChildFailed:
        """Why a child died."""
        if code == -signal.SIGPROF:
            return ChildFailed(self._too_slow())
        if code in _WITHOUT_MEMORY:
            return _Ended(self._too_large())
        return _Ended(f"the reader ended with {f'signal {-code}' if code < 0 else f'code {code}'}")

    def _too_slow(self) -> str:
        return f"the reader needed more than {self._seconds:g} s"

    def _too_large(self) -> str:
        return f"the reader needed more than {self._memory >> 20} MiB"


def _exchange(child: subprocess.Popen[bytes], message: bytes, seconds: float) -> tuple[int, bytes]:
    """Sends a message, if any, and receives the answer, however the child reads and writes."""
    assert child.stdin is not None and child.stdout is not None
    waiting = select.poll()  # `select` ends at 1,024 descriptors
    sink, source = child.stdin.fileno(), child.stdout.fileno()
    waiting.register(source, select.POLLIN)
    if message:
        waiting.register(sink, select.POLLOUT)
    unsent, deadline = memoryview(message), time.monotonic() + seconds
    received, size = bytearray(), _LENGTH.size
    while len(received) < size:
        ready = waiting.poll(max(0.0, deadline - time.monotonic()) * 1000)
        if not ready:
            raise TimeoutError
        for descriptor, _ in ready:
            if descriptor == sink:
                unsent = unsent[os.write(sink, unsent[:_AT_A_TIME]) :]
                if not unsent:
                    waiting.unregister(sink)
            else:
                part = os.read(source, _AT_A_TIME)
                if not part:
                    raise ConnectionError
                received += part
                if len(received) >= _LENGTH.size:
                    size = _LENGTH.size + _LENGTH.unpack_from(received)[1]
                    if size > MOST_BYTES:
                        raise ChildFailed(f"the reader found more than {MOST_BYTES >> 20} MiB")
    return received[0], bytes(memoryview(received)[_LENGTH.size :])


def _isolate() -> None:
    """Gives up the network and new privileges, where the system permits it."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if libc.unshare(_NEW_NETWORK) != 0:  # not root
        libc.unshare(_NEW_USER | _NEW_NETWORK)


def serve(answer: Callable[[bytes], bytes]) -> None:
    """The child's life: takes its limits from the command line and answers until its input ends.

    When the parent is gone the input ends, and a request in the making is ended by the limit on
    processor time.
    """
    memory, seconds = int(sys.argv[1]), float(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _isolate()
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    answers.write(_LENGTH.pack(_ANSWERED, 0))
    answers.flush()
    while len(header := requests.read(_LENGTH.size)) == _LENGTH.size:
        request = requests.read(_LENGTH.unpack(header)[1])
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            status, said = _ANSWERED, answer(request)
        except MemoryError:
            status, said = _NO_MEMORY, b""
        except ChildFailed as error:
            status, said = _RAISED, str(error).encode()
        except Exception as error:  # a parser may raise anything at all for a broken file
            status, said = _RAISED, f"{type(error).__name__}: {error}"[:200].encode("utf-8", "replace")
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        answers.write(_LENGTH.pack(status, len(said)) + said)
        answers.flush()
