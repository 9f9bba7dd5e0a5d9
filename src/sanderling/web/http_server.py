"""Runs the app and the app that shows archived pages, until a signal stops them."""

import asyncio
import contextlib
import errno
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn
from fastapi import FastAPI

from sanderling.errors import UsageError


class _Server(uvicorn.Server):
    """Does not handle signals, because two servers run in one process. `serve` handles them."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def listening(host: str, port: int) -> socket.socket:
    """A bound socket. It is made first, so that a port in use is reported before anything else
    happens."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # With the protocol given, asyncio turns off Nagle's algorithm, which delays short answers
        # by 40 ms.
        sock = socket.socket(family, kind, protocol)
        with contextlib.ExitStack() as undo:
            undo.callback(sock.close)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
            undo.pop_all()
    except OSError as error:
        hint = "; choose another port" if error.errno in (errno.EADDRINUSE, errno.EACCES) else ""
        raise UsageError(f"cannot listen on {host} port {port}: {error.strerror or error}{hint}") from None
    return sock


def serve(apps: list[tuple[FastAPI, socket.socket]], on_start: Callable[[], None]) -> None:
    """Serves every app on its socket until SIGINT or SIGTERM."""
    servers = [
        (
            _Server(uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=2, ws="none")),
            sock,
        )
        for app, sock in apps
    ]

    async def run() -> None:
        loop = asyncio.get_running_loop()

        def stop() -> None:
            for app, _ in apps:
                app.state.closing = True
            for server, _ in servers:
                server.should_exit = True

        for each in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(each, stop)
        running = [asyncio.create_task(server.serve([sock])) for server, sock in servers]
        while not all(server.started for server, _ in servers) and not any(task.done() for task in running):
            await asyncio.sleep(0.01)
        on_start()
        await asyncio.gather(*running)

    asyncio.run(run())
