"""A child process: started, listened to, asked whether it ended and why, and ended."""

import contextlib
import os
import subprocess


class Child:
    """A process that runs from the moment this is made until `end`."""

    def __init__(
        self, command: list[str], *, lifeline: bool = False, tells: bool = False, complains: bool = True
    ) -> None:
        """A child with a `lifeline` ends when its standard input is closed, so that it never
        outlives its parent.

        It `tells` lines on its standard output. When it `complains`, its standard error is kept for
        `complaint`; otherwise it goes where that of the parent goes.
        """
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if lifeline else subprocess.DEVNULL,
            stdout=subprocess.PIPE if tells else subprocess.DEVNULL,
            stderr=subprocess.PIPE if complains else None,
        )
        self._heard = b""
        if self._process.stdout is not None:
            os.set_blocking(self._process.stdout.fileno(), False)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def code(self) -> int | None:
        """How it ended, with the negative signal if it was one; None while it runs."""
        return self._process.poll()

    @property
    def stopped(self) -> bool:
        """Whether it stands still, as after SIGSTOP."""
        if self.code is not None:
            return False
        with contextlib.suppress(ChildProcessError):
            return os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
        return False

    def complaint(self) -> str:
        """The last line that a child wrote to its standard error before it ended."""
        said = self._process.stderr.read() if self._process.stderr is not None else b""
        return said.decode(errors="replace").strip().rpartition("\n")[2]

    def told(self) -> list[str]:
        """The lines that it has told since this was asked last."""
        if self._process.stdout is not None:
            self._heard += self._process.stdout.read() or b""
        *lines, self._heard = self._heard.split(b"\n")
        return [line.decode("utf-8", "replace") for line in lines]

    def send(self, line: bytes) -> None:
        """Writes a line to its standard input, unless it is gone."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.write(line + b"\n")
                self._process.stdin.flush()

    def let_go(self) -> None:
        """Closes its lifeline: it finishes what it is at and ends."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()

    def kill(self) -> None:
        self._process.kill()

    def end(self, patience: float = 0.0) -> None:
        """Gives it `patience` seconds to end by itself, and then ends it."""
        self.let_go()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def close(self) -> None:
        """Ends it at once, and closes what it wrote to."""
        self.end()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
