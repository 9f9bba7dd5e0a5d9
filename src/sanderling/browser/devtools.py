"""The DevTools protocol over two pipes: calls and their answers, and events by session.

Messages are JSON and end with a NUL byte. Sessions are flat: each message names the session it
belongs to, and the empty name is that of the browser itself.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from sanderling.browser.promises import Promise
from sanderling.client.loop import READ, WRITE, Loop

# No message is longer: the largest is the DOM of a page, which is cut before it is sent.
LONGEST = 512 << 20
_AT_A_TIME = 1 << 20

# The name of an event and its parameters as JSON.
OnEvent = Callable[[str, msgspec.Raw], None]


class BrowserGone(Exception):
    """The browser ended."""


class CallRefused(Exception):
    """The browser answered a call with an error."""


class _Error(msgspec.Struct):
    message: str = ""


class _Message(msgspec.Struct, rename="camel"):
    id: int = 0
    method: str = ""
    params: msgspec.Raw = msgspec.Raw(b"{}")
    result: msgspec.Raw = msgspec.Raw(b"{}")
    error: _Error | None = None
    session_id: str = ""


_decode = msgspec.json.Decoder(_Message).decode
_encode = msgspec.json.Encoder().encode


class DevTools:
    """The connection to one browser."""

    def __init__(self, loop: Loop, source: int, sink: int, on_end: Callable[[], None]) -> None:
        """Reads from `source`, writes to `sink`, and owns both."""
        self._loop = loop
        self._source, self._sink = source, sink
        self._on_end = on_end
        self._number = 0
        self._heard = bytearray()
        self._scanned = 0  # so much of what was heard has no end of a message
        self._unsent: list[bytes] = []
        self._holding = False  # messages are collected, to be written together
        self._answers: dict[int, tuple[str, Promise[msgspec.Raw]]] = {}
        self._sessions: dict[str, OnEvent] = {}
        self.ended = False
        for fd in (source, sink):
            os.set_blocking(fd, False)
        loop.watch(source, READ, self._on_readable)

    def listen(self, session: str, on_event: OnEvent) -> None:
        """Gives the events of a session to a function."""
        self._sessions[session] = on_event

    def forget(self, session: str, error: Exception) -> None:
        """Ends a session on our side: its events are dropped, and calls without an answer fail."""
        self._sessions.pop(session, None)
        lost = [number for number, (name, _) in self._answers.items() if name == session]
        for number in lost:
            self._answers.pop(number)[1].break_(error)

    def call(self, method: str, params: dict[str, Any] | None = None, session: str = "") -> Promise[msgspec.Raw]:
        answer: Promise[msgspec.Raw] = Promise()
        if self.ended:
            answer.break_(BrowserGone())
            return answer
        self._number += 1
        self._answers[self._number] = session, answer
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        self._send(_encode(message) + b"\0")
        return answer

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Writes all calls that are made meanwhile in one piece: each piece wakes the browser."""
        held, self._holding = self._holding, True
        try:
            yield
        finally:
            self._holding = held
            if not held and self._unsent and not self.ended:
                self._unsent = [b"".join(self._unsent)]
                self._write()

    def close(self) -> None:
        """Drops the connection. A browser that was started with pipes ends with them."""
        if self.ended:
            return
        self.ended = True
        for fd in (self._source, self._sink):
            self._loop.unwatch(fd)
            with contextlib.suppress(OSError):
                os.close(fd)
        waiting, self._answers = self._answers, {}
        self._sessions.clear()
        for _, answer in waiting.values():
            answer.break_(BrowserGone())

    def _end(self) -> None:
        if not self.ended:
            self.close()
            self._on_end()

    def _send(self, message: bytes) -> None:
        self._unsent.append(message)
        if len(self._unsent) == 1 and not self._holding:
            self._write()

    def _write(self) -> None:
        try:
            while self._unsent:
                written = os.write(self._sink, self._unsent[0])
                if written < len(self._unsent[0]):
                    self._unsent[0] = self._unsent[0][written:]
                else:
                    self._unsent.pop(0)
        except BlockingIOError:
            self._loop.watch(self._sink, WRITE, self._on_writable)
        except OSError:
            self._end()

    def _on_writable(self, fd: int, events: int) -> None:
        self._loop.unwatch(fd)
        self._write()

    def _on_readable(self, fd: int, events: int) -> None:
        try:
            part = os.read(fd, _AT_A_TIME)
        except BlockingIOError:
            return
        except OSError:
            part = b""
        self._heard += part
        if not part or len(self._heard) > LONGEST:
            self._end()
            return
        with self.together():
            while (end := self._heard.find(b"\0", self._scanned)) >= 0:
                message = bytes(self._heard[:end])
                del self._heard[: end + 1]
                self._scanned = 0
                self._take(message)
                if self.ended:
                    return
        self._scanned = len(self._heard)

    def _take(self, data: bytes) -> None:
        message = _decode(data)
        if message.method:
            on_event = self._sessions.get(message.session_id)
            if on_event is not None:
                on_event(message.method, message.params)
            return
        _, answer = self._answers.pop(message.id, ("", None))
        if answer is None:
            return
        if message.error is not None:
            answer.break_(CallRefused(message.error.message))
        else:
            answer.keep(message.result)
