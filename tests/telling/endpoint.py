"""An endpoint for webhooks that answers as it is told to and keeps what it was sent."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Posted(NamedTuple):
    headers: dict[str, str]
    body: bytes
    status: int

    @property
    def changes(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.body)["changes"]
        return found


class Endpoint:
    """Gives `statuses` in turn, the last one for ever; `hold` keeps an answer back."""

    def __init__(self, *statuses: int, headers: tuple[tuple[str, str], ...] = (), hold: float = 0.0) -> None:
        self.statuses = list(statuses) or [200]
        self.posted: list[Posted] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = endpoint.statuses.pop(0) if len(endpoint.statuses) > 1 else endpoint.statuses[0]
                named = {name.lower(): value for name, value in self.headers.items()}
                time.sleep(hold)
                endpoint.posted.append(Posted(named, body, status))
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/hook"

    def __enter__(self) -> "Endpoint":
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def taken(self) -> list[str]:
        """The ids of the changes it said it took, in that order; what comes with the same id again is known already."""
        posts = {post.headers["webhook-id"]: post for post in self.posted if 200 <= post.status < 300}
        return [change["id"] for post in posts.values() for change in post.changes]
