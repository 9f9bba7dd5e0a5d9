"""A served site whose comments are behind events: "show more", tabs, a pager and endless
scrolling."""

import json
import re
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WAYS = ("more", "pager", "tabs", "scroll")
AT_ONCE = 100
# Comments under a tab.
A_TAB = 400

_PAGE = """<!doctype html><html><head><title>Video %(video)d</title></head><body><h1>Video %(video)d</h1>
<p>%(total)d comments, reached by %(way)s.</p><div id=tabs></div><ul id=list></ul><button id=go hidden></button>
<script>
const total = %(total)d, way = "%(way)s", each = %(each)d, aTab = %(tab)d;
let at = 0, end = total, busy = false;
const show = async (clear) => {
  if (busy || at >= end) return;
  busy = true;
  const found = await (await fetch(`/comments/%(video)d/${at}/${Math.min(each, end - at)}`)).json();
  if (clear) list.replaceChildren();
  for (const text of found) list.append(Object.assign(document.createElement("li"), { textContent: text }));
  at += found.length;
  busy = false;
  if (at >= end) go.hidden = true;
};
if (way === "more" || way === "pager" || way === "tabs") {
  go.hidden = total <= each;
  go.textContent = way === "pager" ? "Next" : "Show more";
  go.onclick = () => show(way === "pager");
}
if (way === "tabs")
  for (let first = 0; first < total; first += aTab) {
    const tab = Object.assign(document.createElement("button"), { textContent: `Part ${first / aTab + 1}` });
    tab.onclick = () => { at = first; end = Math.min(total, first + aTab); go.hidden = false; show(true); };
    tabs.append(tab);
  }
if (way === "scroll") {
  list.style.paddingBottom = "3000px";
  addEventListener("scroll", () => show(false));
}
if (way !== "tabs") show(false);
else { end = Math.min(total, aTab); show(true); }
</script></body></html>"""
# The same three things can be done by many elements, and most do nothing new.
_DYNAMIC = """<!doctype html><html><head><title>Page %(number)d</title></head><body><h1>Page %(number)d</h1><div id=top></div>
<div id=show>Choose a part of page %(number)d.</div><div id=bottom></div><script>
const parts = ["history", "habitat", "voice"];
const load = (part) => async () => { show.textContent = await (await fetch(`/part/%(number)d/${part}`)).text(); };
for (const place of [top_ = document.getElementById("top"), document.getElementById("bottom")])
  for (const part of parts)
    for (let copy = 0; copy < 3; copy++) {
      const button = Object.assign(document.createElement("button"), { textContent: part });
      button.addEventListener("click", load(part));
      place.append(button);
    }
</script></body></html>"""

_COMMENT = re.compile(r"comment-(\d+)-(\d+) says")


class CommentSite:
    """Serves videos with so many comments each at `/video/N`, and dynamic pages at `/page/N`."""

    def __init__(self, counts: list[int]) -> None:
        self._counts = counts
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.origin = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "CommentSite":
        threading.Thread(target=self._server.serve_forever, name="comment-site", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def video(self, number: int) -> str:
        return f"{self.origin}/video/{number}"

    def way(self, number: int) -> str:
        return WAYS[number % len(WAYS)]

    def answer(self, path: str) -> tuple[str, bytes] | None:
        """The media type and the body for a path."""
        kind, *rest = path.strip("/").split("/")
        if kind == "video" and rest and int(rest[0]) < len(self._counts):
            video = int(rest[0])
            page = _PAGE % {
                "video": video,
                "total": self._counts[video],
                "way": self.way(video),
                "each": AT_ONCE,
                "tab": A_TAB,
            }
            return "text/html", page.encode()
        if kind == "comments":
            video, first, many = map(int, rest)
            texts = [f"comment-{video}-{n} says something about the birds" for n in range(first, first + many)]
            return "application/json", json.dumps(texts).encode()
        if kind == "page":
            return "text/html", (_DYNAMIC % {"number": int(rest[0])}).encode()
        if kind == "part":
            return "text/plain", f"The {rest[1]} of page {rest[0]}, told in a few words.".encode()
        return None

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                found = site.answer(self.path)
                kind, body = found or ("text/plain", b"not found")
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


def comments_in(html: bytes) -> Counter[tuple[str, str]]:
    """The comments in a page, as (video, number), and how often each stands there."""
    return Counter(_COMMENT.findall(html.decode("utf-8", "replace")))
