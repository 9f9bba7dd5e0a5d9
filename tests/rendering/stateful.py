"""A page whose content is behind events: tabs, a pager, "show more", endless scrolling, and buttons
that do harm."""

import json

from tests.servers import Answer

ENTRIES = ("gulls", "terns", "plovers", "godwits", "knots", "dunlins")
PAGE = """<!doctype html><html><head><title>States</title></head><body>
<h1>Shore birds</h1><p id=about>Content is behind events here.</p>
<nav id=tabs><span class=tab data-tab=feeding>Feeding</span><span class=tab data-tab=moult>Moult</span></nav>
<div id=panel><p>Pick a tab.</p></div>
<div id=pager><p id=entry>Entry on gulls in the log</p><button class=prev>Previous</button><button class=next>Next</button></div>
<div id=pager2><button class=next>Next</button></div>
<ul id=comments></ul><button id=more>Show more</button>
<button id=harm>Delete this page</button>
<form action="/send"><button type=button id=inform>Open</button></form>
<button id=like class=vote>Thumbs</button>
<a href="#about" id=place>About</a>
<script>
const get = (name) => fetch(name).then((answer) => answer.json());
document.getElementById("tabs").addEventListener("click", (event) => {
  if (event.target.dataset.tab)
    get(`/tab/${event.target.dataset.tab}.json`).then((tab) => (panel.innerHTML = `<p>${tab.text}</p><a href="${tab.link}">more</a>`));
});
document.querySelectorAll(".tab").forEach((tab) => (tab.style.cursor = "pointer"));
let at = 0;
const show = (step) => () => {
  at = Math.max(0, Math.min(PAGES - 1, at + step));
  get(`/entry/${at}.json`).then((found) => (entry.textContent = found.text));
};
document.querySelectorAll(".next").forEach((button) => button.addEventListener("click", show(1)));
document.querySelector(".prev").addEventListener("click", show(-1));
let last = 0;
more.onclick = () => get(`/comments/${last}.json`).then((found) => {
  for (const text of found) comments.append(Object.assign(document.createElement("li"), { textContent: text }));
  last += found.length;
  more.textContent = `Show more (${TOTAL - last} left)`;
  if (last >= TOTAL) more.remove();
});
harm.onclick = inform.onclick = () => fetch("/harm", { method: "POST" });
like.onclick = () => fetch("/like", { method: "POST" }).then(() => (like.textContent = "liked"));
</script></body></html>"""


def comments(total: int, at_once: int = 10) -> dict[str, bytes | Answer]:
    return {
        f"/comments/{first}.json": _json(
            [f"comment {n} by a birder" for n in range(first, min(total, first + at_once))]
        )
        for first in range(0, total, at_once)
    }


def stateful(entries: int = 6, total: int = 35) -> dict[str, bytes | Answer]:
    html = PAGE.replace("PAGES", str(entries)).replace("TOTAL", str(total))
    table: dict[str, bytes | Answer] = {
        "/": html.encode(),
        "/tab/feeding.json": _json({"text": "Sanderlings probe the sand for isopods.", "link": "/behind/feeding"}),
        "/tab/moult.json": _json({"text": "In autumn the plumage turns grey.", "link": "/behind/moult"}),
        "/behind/feeding": b"<title>Feeding</title><p>A page that only a tab links to.",
        "/behind/moult": b"<title>Moult</title><p>Another page that only a tab links to.",
        **comments(total),
    }
    for number in range(entries):
        table[f"/entry/{number}.json"] = _json({"text": f"Entry on {ENTRIES[number]} in the log"})
    return table


ROUTED = b"""<!doctype html><html><head><title>Routes</title></head><body><nav><a href="#/start">Start</a>
<a href="#/guide">Guide</a><a href="#/api">API</a><a href="#top">Top</a></nav><main id=top></main><script>
const PAGES = { "/start": "Where to begin", "/guide": "How to watch birds", "/api": "Every function" };
const show = () => {
  const name = location.hash.slice(1) || "/start";
  document.title = name;
  document.querySelector("main").innerHTML = `<p>${PAGES[name] ?? `More words about the part ${name} of this application`}</p>` + (PAGES[name] ? `<a href="#/deep${name}">deeper</a>` : "")
    + (name === "/api" ? "<button id=details>Details</button>" : "");
  if (name === "/api") details.onclick = () => (details.outerHTML = "<p>The details of the interface.</p>");
};
addEventListener("hashchange", show);
show();
</script></body></html>"""


def _json(value: object) -> Answer:
    return Answer(json.dumps(value).encode(), "application/json")
