"""Live pages beside their archived copies, as pictures that are compared by pixels: in the
dashboard, in pywb, as a site on a disk and as one file."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from bench.field import npm
from bench.field.packages import python_with
from bench.places import SANDERLING, BenchError, say
from sanderling.presenting.mirror import path_of
from tests import complete_page
from tests.browser.chromium import chromium
from tests.browser.looks import HEIGHT, WIDTH, archived_copy, picture, picture_in_pywb, share_that_differs
from tests.replaying import PYWB, collection, pywb
from tests.servers import PageServer
from tests.web.served import running

PACKAGES = {
    "mkdocs-material": ("mkdocs-material==9.7.6",),
    "sphinx": ("sphinx==8.2.3", "furo==2025.12.19"),
    "vitepress": ("vitepress@1.6.4",),
    "material-ui": ("react@18.3.1", "react-dom@18.3.1", "@mui/material@5.18.0", "chart.js@4.6.1"),
}
# Without scripts there is nothing on these pages, so a browser has to archive them.
MADE_BY_SCRIPTS = {"material-ui"}
MOST = 0.02
REPLAYS = ("dashboard", "pywb", "site", "single")
_TEXT = """# Waders of the coast

A *sanderling* runs after every wave. See [the second page]({second}).

| bird | length |
|---|---|
| Dunlin | 18 cm |
| Knot | 25 cm |

```python
def probe(sand: str) -> int:
    return len(sand)
```

![a drawing](bird.svg)

> It probes the sand again where the sea has just changed it.

1. One
2. Two
"""
_MKDOCS = """site_name: Waders
docs_dir: {0}/text
site_dir: {0}/site
theme:
  name: material
  font: false
  palette: {{primary: teal}}
  features: [navigation.tabs, content.code.copy]
"""


_APPLICATION = """<!doctype html><meta charset=utf-8><title>Waders</title><div id=root></div>
<canvas id=chart width=400 height=200></canvas>
<script src=react.js></script><script src=react-dom.js></script><script src=material.js></script>
<script src=chart.js></script><script>
const h = React.createElement, { AppBar, Toolbar, Typography, Alert, Card, CardContent, Button, Slider } = MaterialUI;
ReactDOM.createRoot(document.getElementById("root")).render(h("div", null,
  h(AppBar, { position: "static" }, h(Toolbar, null, h(Typography, { variant: "h6" }, "Waders"))),
  h(Alert, { severity: "info" }, "A knot was seen."),
  h(Card, null, h(CardContent, null, h(Typography, { variant: "h4" }, "Dunlin"),
    h(Button, { variant: "contained" }, "Look"), h(Slider, { defaultValue: 40 })))));
new Chart(document.getElementById("chart"), { type: "bar", options: { responsive: false, animation: false },
  data: { labels: ["Dunlin", "Knot"], datasets: [{ label: "Length", data: [18, 25] }] } });
</script>
"""


class _Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def folder_served(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def _texts(place: Path, second: str) -> Path:
    folder = place / "text"
    folder.mkdir(parents=True)
    (folder / "index.md").write_text(_TEXT.format(second=second))
    (folder / "second.md").write_text("# The second page\n\n" + "It is about knots, and longer. " * 50)
    (folder / "bird.svg").write_bytes(complete_page.drawing("teal"))
    return folder


def _run(*command: object, cwd: Path | None = None) -> None:
    made = subprocess.run([str(each) for each in command], cwd=cwd, capture_output=True, text=True)
    if made.returncode:
        raise BenchError(f"{command[0]} failed: {(made.stderr or made.stdout)[-500:]}")


def _material(place: Path) -> Path:
    python = python_with("mkdocs-material", *PACKAGES["mkdocs-material"])
    _texts(place, "second.md")
    (place / "mkdocs.yml").write_text(_MKDOCS.format(place))
    _run(python, "-m", "mkdocs", "build", "-q", "-f", place / "mkdocs.yml")
    return place / "site"


def _sphinx(place: Path) -> Path:
    python = python_with("furo", *PACKAGES["sphinx"], "myst-parser==4.0.1")
    text = _texts(place, "second.md")
    (text / "conf.py").write_text(
        "project = 'Waders'\nhtml_theme = 'furo'\nextensions = ['myst_parser']\nroot_doc = 'index'\n"
    )
    _run(python, "-m", "sphinx", "-q", "-b", "html", text, place / "site")
    return place / "site"


def _vitepress(place: Path) -> Path:
    modules = npm.packages("vitepress", *PACKAGES["vitepress"])
    text = _texts(place, "second.md")
    (place / "node_modules").symlink_to(modules)
    (text / ".vitepress").mkdir()
    (text / ".vitepress" / "config.mjs").write_text("export default { title: 'Waders' }\n")
    _run("node", modules / "vitepress" / "bin" / "vitepress.js", "build", text, "--outDir", place / "site", cwd=place)
    return place / "site"


def _material_ui(place: Path) -> Path:
    modules, site = npm.packages("material-ui", *PACKAGES["material-ui"]), place / "site"
    site.mkdir()
    for name, path in {
        "react.js": "react/umd/react.production.min.js",
        "react-dom.js": "react-dom/umd/react-dom.production.min.js",
        "material.js": "@mui/material/umd/material-ui.production.min.js",
        "chart.js": "chart.js/dist/chart.umd.js",
    }.items():
        shutil.copyfile(modules / path, site / name)
    (site / "index.html").write_text(_APPLICATION)
    return site


BUILDS: dict[str, Callable[[Path], Path]] = {
    "mkdocs-material": _material, "sphinx": _sphinx, "vitepress": _vitepress, "material-ui": _material_ui,
}  # fmt: skip
PAGES = {
    "mkdocs-material": ("", "second/"), "sphinx": ("", "second.html"), "vitepress": ("", "second.html"),
    "material-ui": ("",),
}  # fmt: skip


def report(names: list[str], pictures: Path | None) -> int:
    """Prints a line for each page and way to archive it; fails when too much of one differs."""
    if not (PYWB / "wayback").exists():
        raise BenchError("pywb is missing: `make test` installs it in .venv/replay")
    print(f"{'page':32} {'archived by':12}" + "".join(f"{each:>11}" for each in REPLAYS), flush=True)
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="sanderling-replay-") as made, chromium() as browser:
        browser.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        place = Path(made)
        for name in names or [*BUILDS, "55 files"]:
            say(f"{name} ...")
            with ExitStack() as stack:
                home, pages = _site(name, place / name.replace(" ", "-"), stack)
                live = {path: picture(browser, home + path) for path in pages}
                for way in ("browser",) if name in MADE_BY_SCRIPTS else ("requisites", "browser"):
                    folder = place / f"{name.replace(' ', '-')}-{way}" / "copy"
                    _crawl(home, folder, way)
                    for path, found in _replayed(browser, folder, home, pages, live, pictures, f"{name}-{way}"):
                        worst = max(worst, *found)
                        print(
                            f"{name + ' /' + path:32} {way:12}" + "".join(f"{each:11.2%}" for each in found), flush=True
                        )
    print(f"at most {worst:.2%} of the pixels differ (allowed: {MOST:.0%})")
    return int(worst > MOST)


def _site(name: str, place: Path, stack: ExitStack) -> tuple[str, tuple[str, ...]]:
    if name in BUILDS:
        place.mkdir()
        return stack.enter_context(folder_served(BUILDS[name](place))), PAGES[name]
    other = stack.enter_context(PageServer(complete_page.files_elsewhere()))
    home = PageServer({"/": complete_page.page(other.origin), **complete_page.files()})
    return f"{stack.enter_context(home).origin}/", ("",)


def _crawl(home: str, folder: Path, way: str) -> None:
    folder.parent.mkdir(parents=True)
    render = "always" if way == "browser" else "never"
    polite = ("--delay-factor", "0", "--allow-private", "--requisites", "--render", render)
    _run(SANDERLING, "crawl", home, "-d", folder, *polite)


def _replayed(
    browser: Any, folder: Path, home: str, pages: tuple[str, ...], live: dict[str, bytes], pictures: Path | None,
    name: str,
) -> Iterator[tuple[str, list[float]]]:  # fmt: skip
    place = collection(folder, lambda *words: _run(SANDERLING, *words))
    for form in ("site", "single"):
        _run(SANDERLING, "export", folder, "--format", form, "-o", place / form)
    with running(folder.parent) as server, pywb(place) as replay:
        for path in pages:
            archived = archived_copy(browser, server.url, folder.name, home + path)
            now = time.strftime("%Y%m%d%H%M%S", time.gmtime())
            shown = [
                picture(browser, f"{archived}&bar=false"),
                picture_in_pywb(browser, f"{replay}/all/{now}/{home}{path}"),
                *(picture(browser, (place / form / path_of(home + path, True)).as_uri()) for form in REPLAYS[2:]),
            ]
            if pictures is not None:
                pictures.mkdir(parents=True, exist_ok=True)
                for kind, content in zip(("live", *REPLAYS), (live[path], *shown), strict=True):
                    (pictures / f"{name}-{path.strip('/').replace('/', '-') or 'index'}-{kind}.png").write_bytes(
                        content
                    )
            yield path, [share_that_differs(live[path], each) for each in shown]
