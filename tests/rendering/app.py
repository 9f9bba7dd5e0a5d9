"""A single-page application: every address gets the same document, and a script asks for the
content."""

import json

from tests.servers import Answer, Table

SHELL = b"""<!doctype html><html><head><title>loading</title><script src="/app.js" defer></script></head>
<body><div id="app"></div><noscript>Please enable JavaScript</noscript></body></html>"""
SCRIPT = b"""
const name = location.pathname.split("/").pop() || "0";
fetch(`/api/${name}.json`).then((answer) => answer.json()).then((page) => {
  document.title = page.title;
  document.getElementById("app").innerHTML = `<h1>${page.title}</h1><p>${page.text}</p>
    <p>Number ${Math.random()}, made at ${new Date().toISOString().slice(0, 13)}</p>`
    + page.links.map((link) => `<a href="/page/${link}">page ${link}</a>`).join(" ");
});
"""


def content(number: int, pages: int, text: str = "") -> Answer:
    links = [(2 * number + 1) % pages, (2 * number + 2) % pages]
    text = text or f"unique{number} sanderlings run along the beach before the waves"
    page = {"title": f"Page {number}", "text": text, "links": links}
    return Answer(json.dumps(page).encode(), "application/json")


def app(pages: int) -> dict[str, bytes | Answer]:
    """The table of an application with so many routes."""
    table: dict[str, bytes | Answer] = {"/": SHELL, "/app.js": Answer(SCRIPT, "text/javascript")}
    for number in range(pages):
        table[f"/page/{number}"] = SHELL
        table[f"/api/{number}.json"] = content(number, pages)
    return table


def page(script: str, body: str = "", head: str = "") -> bytes:
    """A page with a script of its own."""
    return f"<!doctype html><html><head><title>t</title>{head}</head><body>{body}<script>{script}</script></body></html>".encode()


__all__ = ["Table", "app", "content", "page"]
