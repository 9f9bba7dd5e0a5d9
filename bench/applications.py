"""Applications of the npm registry, served on this machine: their pages are made by scripts.

- `documentation`: docsify shows the Markdown files of fastify. A page is a path, or a fragment such
  as `#/Guides/Testing`.
- `interface`: Swagger UI, built with React, shows descriptions of interfaces; their endpoints are
  generated.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from bench.places import CACHE, BenchError, say

PACKAGES = {"docsify": "4.13.1", "fastify": "5.12.8", "swagger-ui-dist": "5.34.1", "marked": "18.2.0"}
INTERFACES = 40
_DOCUMENTATION = """<!doctype html><html><head><meta charset="utf-8"><title>Loading</title>
<link rel="stylesheet" href="/lib/themes/vue.css"></head><body><div id="app">Please wait</div>
<script>window.$docsify = {{ routerMode: "{mode}", homepage: "index.md", loadSidebar: true, alias: {{ "/.*/_sidebar.md": "/_sidebar.md" }} }}</script>
<script src="/lib/docsify.min.js"></script></body></html>"""
_INTERFACE = """<!doctype html><html><head><meta charset="utf-8"><title>Loading</title>
<link rel="stylesheet" href="/swagger-ui.css"></head><body><div id="app"></div><script src="/swagger-ui-bundle.js"></script>
<script>const name = location.pathname.split("/").pop() || "0";
SwaggerUIBundle({ url: `/interfaces/${name}.json`, dom_id: "#app", onComplete: () => (document.title = `Interface ${name}`) })</script></body></html>"""


class Application(NamedTuple):
    """A served application."""

    origin: str
    urls: list[str]  # all of its pages, the first of which links to the others or is all there is to link from
    folder: Path


@contextmanager
def documentation(place: Path, fragments: bool = False) -> Iterator[Application]:
    """The documentation, below `place`; with `fragments`, its pages are fragments of one
    document."""
    folder = place / "documentation"
    shutil.copytree(_package("docsify") / "lib", folder / "lib")
    shutil.copytree(_package("fastify") / "docs", folder, dirs_exist_ok=True)
    names = sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.md"))
    (folder / "_sidebar.md").write_text("".join(f"- [{name}](/{name}.md)\n" for name in names))
    (folder / "index.html").write_text(_DOCUMENTATION.format(mode="hash" if fragments else "history"))
    with _served(folder) as origin:
        mark = "#/" if fragments else ""
        yield Application(origin, [f"{origin}/", *(f"{origin}/{mark}{name}" for name in names)], folder)


@contextmanager
def interface(place: Path) -> Iterator[Application]:
    folder = place / "interface"
    (folder / "interfaces").mkdir(parents=True)
    for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
        shutil.copy(_package("swagger-ui-dist") / name, folder)
    for number in range(INTERFACES):
        (folder / "interfaces" / f"{number}.json").write_text(json.dumps(_described(number)))
    (folder / "index.html").write_text(_INTERFACE)
    with _served(folder) as origin:
        yield Application(origin, [f"{origin}/{number}" for number in range(INTERFACES)], folder)


def _described(number: int) -> dict[str, object]:
    """The description of an interface with thirty endpoints. It names all interfaces, which makes
    links."""
    named = " ".join(f"[Interface {n}](/{n})" for n in range(INTERFACES))
    paths = {
        f"/birds/{number}/{n}": {
            "get": {
                "summary": f"What bird {n} of flock {number} did",
                "tags": [f"flock {n % 5}"],
                "responses": {"200": {"description": "Sightings"}},
            }
        }
        for n in range(30)
    }
    info = {"title": f"Interface {number}", "version": "1.0", "description": named}
    return {"openapi": "3.0.3", "info": info, "paths": paths}


def _package(name: str) -> Path:
    """The unpacked package, fetched once."""
    place = CACHE / "npm" / f"{name}-{PACKAGES[name]}"
    if not place.exists():
        say(f"Fetching {name} {PACKAGES[name]} from the npm registry (once) ...")
        place.parent.mkdir(parents=True, exist_ok=True)
        command = ["npm", "pack", "--silent", f"{name}@{PACKAGES[name]}"]
        try:
            made = subprocess.run(command, cwd=place.parent, capture_output=True, text=True, check=True).stdout.split()
        except (OSError, subprocess.CalledProcessError) as error:
            raise BenchError(f"{name} could not be fetched with npm: {error}") from error
        packed = place.parent / made[-1]
        with tarfile.open(packed) as archive:
            archive.extractall(place, filter="data")
        packed.unlink()
    return place / "package"


def rendered_markdown(files: list[Path]) -> list[str]:
    """The Markdown files as HTML, made by another program than the application."""
    program = (
        "const [, library, ...names] = process.argv; const fs = require('fs');"
        "import(library).then(({ marked }) => console.log(JSON.stringify("
        "names.map((name) => marked.parse(fs.readFileSync(name, 'utf8'))))))"
    )
    library = _package("marked") / "lib" / "marked.esm.js"
    command = ["node", "-e", program, str(library), *map(str, files)]
    try:
        made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise BenchError("node could not read the Markdown files") from error
    return [str(each) for each in json.loads(made)]


class _Handler(SimpleHTTPRequestHandler):
    """Files, and the document of the application for every path that is none."""

    protocol_version = "HTTP/1.1"

    def translate_path(self, path: str) -> str:
        found = super().translate_path(path)
        is_file = Path(found).is_file() or "." in Path(found).name
        return found if is_file else str(Path(self.directory, "index.html"))

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
