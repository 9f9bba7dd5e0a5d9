"""Small servers for tests: pages from a table, SOCKS, FTP, Gopher."""

import contextlib
import socket
import socketserver
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

# Texts for pages that only have to differ.
WORDS = [
    "sand",
    "wave",
    "tide",
    "shore",
    "bird",
    "wing",
    "flock",
    "north",
    "storm",
    "reef",
    "gull",
    "dune",
    "salt",
    "foam",
    "shell",
    "crab",
]


class Answer(NamedTuple):
    body: bytes = b""
    type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


# A page, an answer, or a function that makes the answer to the n-th request.
Entry = bytes | Answer | Callable[[int], bytes | Answer]
Table = Mapping[str, Entry]


class Asked(NamedTuple):
    url: str
    headers: dict[str, str]
    at: float


class ThreadedServer:
    """Serves HTTP from a thread while it is entered."""

    def __init__(self, handler: type[BaseHTTPRequestHandler], where: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self._http = Server(where, handler)
        self.port = self._http.server_address[1]

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class PageServer(ThreadedServer):
    """Answers from a table of paths, or of whole URLs if used as a proxy. It records all
    requests."""

    def __init__(
        self, table: Table, context: ssl.SSLContext | None = None, where: tuple[str, int] = ("127.0.0.1", 0)
    ) -> None:
        self.table = dict(table)
        self.asked: list[Asked] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                url = self.path
                if self.command == "POST":  # in the table as `POST /path body`
                    url = f"POST {url} {self.rfile.read(int(headers.get('content-length', 0))).decode()}"
                server.asked.append(Asked(url, headers, time.monotonic()))
                found = server.table.get(url, Answer(b"not here", status=404))
                if callable(found):
                    found = found(server.requests[url])
                body, kind, status, more = found if isinstance(found, Answer) else Answer(found)
                self.send_response(status)
                for name, value in (("Content-Type", kind), ("Content-Length", str(len(body))), *more):
                    self.send_header(name, value)
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(Handler, where)
        if context is not None:
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True, do_handshake_on_connect=False)
            self._http.handle_error = lambda *_: None  # type: ignore[method-assign]
        self.origin = f"{'https' if context else 'http'}://{where[0]}:{self.port}"

    @property
    def requests(self) -> Counter[str]:
        return Counter(each.url for each in self.asked)


def redirect(location: str, status: int = 302) -> Answer:
    return Answer(b"", status=status, headers=(("Location", location),))


def links(*targets: str) -> bytes:
    return "".join(f'<a href="{target}">{target}</a> ' for target in targets).encode()


@contextmanager
def listening(handler: Any) -> Iterator[tuple[str, int]]:
    """A server that calls `handler(socket)` for every connection, in a thread."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                handler(self.request)

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server.server_address
        finally:
            server.shutdown()
            thread.join()


class Socks:
    """A SOCKS 5 proxy that connects every name to one address and records the names."""

    def __init__(self, target: str) -> None:
        where = urlsplit(target)
        self._target = (where.hostname, where.port)
        self.names: list[str] = []

    def __call__(self, client: socket.socket) -> None:
        _, methods = _exactly(client, 2)
        _exactly(client, methods)
        client.sendall(b"\x05\x00")
        *_, kind = _exactly(client, 4)
        if kind == 3:
            self.names.append(_exactly(client, _exactly(client, 1)[0]).decode())
        else:
            self.names.append(socket.inet_ntop(*_FAMILIES[kind](client)))
        _exactly(client, 2)
        with socket.create_connection(self._target) as server:
            client.sendall(b"\x05\x00\x00\x01" + bytes(6))
            back = threading.Thread(target=_pump, args=(server, client), daemon=True)
            back.start()
            _pump(client, server)
            back.join()


_FAMILIES = {
    1: lambda client: (socket.AF_INET, _exactly(client, 4)),
    4: lambda client: (socket.AF_INET6, _exactly(client, 16)),
}


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            raise ConnectionError
        data += part
    return data


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def gopher(menus: Mapping[str, bytes]) -> Any:
    """Answers Gopher selectors from a table."""

    def handle(client: socket.socket) -> None:
        selector = client.makefile("rb").readline().rstrip(b"\r\n").decode()
        client.sendall(menus.get(selector, b"3not here\r\n.\r\n"))

    return handle


def ftp(files: Mapping[str, bytes]) -> Any:
    """A read-only FTP server for anonymous, passive clients. Listings are as `ls -l` writes
    them."""

    def listed(folder: str) -> bytes:
        inside = sorted({path.removeprefix(folder).partition("/")[::2] for path in files if path.startswith(folder)})
        lines = [
            f"{'d' if rest else '-'}rw-r--r-- 1 ftp ftp {len(files.get(folder + name, b''))} Jan 31 12:00 {name}"
            for name, rest in dict(inside).items()
        ]
        return "\r\n".join([*lines, ""]).encode()

    def handle(client: socket.socket) -> None:
        def say(text: str) -> None:
            client.sendall(text.encode() + b"\r\n")

        say("220 ready")
        passive: socket.socket | None = None
        folder = ""
        for line in client.makefile("rb"):
            verb, _, argument = line.decode().strip().partition(" ")
            if verb == "EPSV":
                passive = socket.create_server(("127.0.0.1", 0))
                say(f"229 passive (|||{passive.getsockname()[1]}|)")
            elif verb == "CWD":
                folder = "" if argument == "/" else f"{folder}{argument}/"
                say("250 ok" if any(path.startswith(folder) for path in files) else "550 no such folder")
            elif passive is not None and (verb == "LIST" or (verb == "RETR" and folder + argument in files)):
                say("150 here it comes")
                data, _ = passive.accept()
                data.sendall(listed(folder) if verb == "LIST" else files[folder + argument])
                data.close()
                passive.close()
                say("226 done")
            elif verb == "SIZE" and folder + argument in files:
                say(f"213 {len(files[folder + argument])}")
            elif verb in ("SIZE", "RETR"):
                say("550 no such file")
            elif verb == "QUIT":
                say("221 bye")
                break
            else:
                replies = {
                    "USER": "331 password",
                    "PASS": "230 welcome",
                    "PWD": '257 "/"',
                    "TYPE": "200 ok",
                }
                say(replies.get(verb, "502 no"))
        if passive is not None:
            passive.close()

    return handle


@contextmanager
def deaf() -> Iterator[str]:
    """An address that accepts no connections: a listener with a full queue."""
    with socket.socket() as listener, contextlib.ExitStack() as waiting:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(3):
            knock = waiting.enter_context(socket.socket())
            knock.setblocking(False)
            knock.connect_ex(listener.getsockname())
        yield "http://{}:{}".format(*listener.getsockname())


@contextmanager
def closed() -> Iterator[str]:
    """An address at which nobody listens, and nobody can start to listen."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield "http://{}:{}".format(*bound.getsockname())
