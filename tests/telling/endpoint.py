"""An endpoint for webhooks with prepared answers. It records what it receives."""

import json
import time
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple

from tests.servers import ThreadedServer


class Posted(NamedTuple):
    headers: dict[str, str]
    body: bytes
    status: int

    @property
    def changes(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.body)["changes"]
        return found


class Endpoint(ThreadedServer):
    """Answers with `statuses` one after the other, then always with the last one. `hold` delays an
    answer."""

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

        super().__init__(Handler)
        self.url = f"http://127.0.0.1:{self.port}/hook"

    @property
    def taken(self) -> list[str]:
        """The ids of the accepted changes in order, without deliveries that came twice."""
        posts = {post.headers["webhook-id"]: post for post in self.posted if 200 <= post.status < 300}
        return [change["id"] for post in posts.values() for change in post.changes]
