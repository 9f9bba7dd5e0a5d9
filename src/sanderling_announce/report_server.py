"""The announcer's own server, for those who want it: the files of the report, and the request of a
crawler to begin."""

from __future__ import annotations

import hmac
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from sanderling_announce import clock
from sanderling_announce.errors import CannotAnnounce
from sanderling_announce.flag import LONGEST, Flag, Reset
from sanderling_announce.hashing import sha256
from sanderling_announce.naming import is_file_name
from sanderling_announce.places import MANIFEST, SITEMAP, WELL_KNOWN

# Of a request to begin, in bytes; and how long one may take, in seconds.
MOST_BODY = 4096
PATIENCE = 10.0

_TYPES = {".jsonl": "application/jsonl", ".xml": "application/xml"}
_NAME = re.compile(r"[\w .:/@+-]{1,100}")
_LENGTH = re.compile(r"[0-9]{1,9}")


class BeginRequest(NamedTuple):
    crawler: str
    seconds: float = LONGEST
    reset: Reset = "time"


def begin_request(body: bytes) -> BeginRequest:
    """Raises ValueError, with a message for the crawler."""
    said = json.loads(body.decode())
    if not isinstance(said, dict) or not set(said) <= set(BeginRequest._fields):
        raise ValueError(f"it is to be an object with {', '.join(BeginRequest._fields)}")
    seconds, reset = said.get("seconds", LONGEST), said.get("reset", "time")
    if not isinstance(said.get("crawler"), str) or not _NAME.fullmatch(said["crawler"]):
        raise ValueError("crawler is to be a name of 1 to 100 characters")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds < float("inf"):
        raise ValueError("seconds is to be a number")
    if reset not in ("time", "change"):
        raise ValueError("reset is to be time or change")
    return BeginRequest(said["crawler"], float(seconds), reset)


class ReportServer:
    """Answers in threads of its own until the process ends. It reads the report's folder and
    nothing else."""

    def __init__(self, host: str, port: int, folder: Path, flag: Flag, token: str) -> None:
        def handler(*given: Any) -> _Handler:
            return _Handler(folder, flag, token, *given)

        try:
            self._server = ThreadingHTTPServer((host, port), handler)
        except OSError as error:
            raise CannotAnnounce(f"{host}:{port} cannot be listened to: {error.strerror}") from None
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    timeout = PATIENCE
    server_version = "sanderling"
    sys_version = ""

    def __init__(self, folder: Path, flag: Flag, token: str, *given: Any) -> None:
        self._folder = folder
        self._flag = flag
        self._token = token
        super().__init__(*given)

    def do_GET(self) -> None:
        name = self.path.removeprefix("/").removeprefix(WELL_KNOWN)
        if name not in (MANIFEST, SITEMAP) and not is_file_name(name):
            return self._answer(404, b"")
        try:
            content = (self._folder / name).read_bytes()
        except OSError:
            return self._answer(404, b"")
        tag = f'"{sha256(content).hexdigest()[:32]}"'
        headers = {"ETag": tag, "Cache-Control": "max-age=31536000, immutable" if is_file_name(name) else "no-cache"}
        if tag in (self.headers.get("If-None-Match") or ""):
            return self._answer(304, b"", headers)
        return self._answer(200, content, headers | {"Content-Type": _TYPES["." + name.rpartition(".")[2]]})

    do_HEAD = do_GET

    def do_POST(self) -> None:
        if self.path != "/begin":
            return self._answer(404, b"")
        given = (self.headers.get("Authorization") or "").encode()
        if not hmac.compare_digest(given, f"Bearer {self._token}".encode()):
            return self._answer(401, b"", {"WWW-Authenticate": "Bearer"})
        length = (self.headers.get("Content-Length") or "0").strip()
        if not _LENGTH.fullmatch(length) or int(length) > MOST_BODY:
            return self._answer(413, b"")
        try:
            asked = begin_request(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as error:
            return self._answer(400, _problem(str(error)))
        granted, taken = self._flag.begin(asked.crawler, asked.seconds, asked.reset, clock.now())
        said = json.dumps({"granted": granted, "taken_until": taken.until}).encode()
        return self._answer(200 if granted else 409, said, {"Content-Type": "application/json"})

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and status != 304:
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _problem(said: str) -> bytes:
    return json.dumps({"error": said}).encode()
