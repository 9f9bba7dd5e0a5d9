"""The announcer's own server, for those who want it: the files of the report, and the request of a
crawler to begin."""

import hmac
import json
import re
import threading
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec

from sanderling import clock
from sanderling.announcements.discovery import MANIFEST, SITEMAP, WELL_KNOWN
from sanderling.announcements.naming import is_file_name
from sanderling.announcer.flag import LONGEST, Flag, Reset
from sanderling.errors import RunFailed
from sanderling.header_values import whole_number

# Of a request to begin, in bytes; and how long one may take, in seconds.
MOST_BODY = 4096
PATIENCE = 10.0

_TYPES = {".jsonl": "application/jsonl", ".xml": "application/xml"}
_NAME = re.compile(r"[\w .:/@+-]{1,100}")


class BeginRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    crawler: str
    seconds: float = LONGEST
    reset: Reset = "time"


class ReportServer:
    """Answers in threads of its own until the process ends. It reads the report's folder and
    nothing else."""

    def __init__(self, host: str, port: int, folder: Path, flag: Flag, token: str) -> None:
        def handler(*given: Any) -> _Handler:
            return _Handler(folder, flag, token, *given)

        try:
            self._server = ThreadingHTTPServer((host, port), handler)
        except OSError as error:
            raise RunFailed(f"{host}:{port} cannot be listened to: {error.strerror}") from None
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
        length = whole_number(self.headers.get("Content-Length") or "0")
        if length is None or length > MOST_BODY:
            return self._answer(413, b"")
        try:
            asked = msgspec.json.decode(self.rfile.read(length), type=BeginRequest)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            return self._answer(400, _problem(str(error)))
        if not _NAME.fullmatch(asked.crawler):
            return self._answer(400, _problem("crawler is to be a name of 1 to 100 characters"))
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
