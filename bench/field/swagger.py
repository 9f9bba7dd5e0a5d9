"""Swagger UI of npm: 45 operations of an interface, each at a fragment of one document."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence

from bench.field import npm
from bench.field.application import Edits, Item, Manners, Site
from bench.field.content import articles

OPERATIONS, SMALL, TAGS = 45, 6, 5
PACKAGE = "swagger-ui-dist@5.34.1"
MANNERS = Manners(options=("--render", "auto"), lists=r"^/(#/[^/]*)?$")
_DOCUMENT = """<!doctype html><html><head><meta charset="utf-8"><title>Interface</title>
<link rel="stylesheet" href="/swagger-ui.css"></head><body><div id="app"></div>
<script src="/swagger-ui-bundle.js"></script>
<script>SwaggerUIBundle({ url: "/interface.json", dom_id: "#app", deepLinking: true })</script></body></html>"""


def install() -> None:
    npm.packages("swagger", PACKAGE)


def fill(site: Site) -> None:
    files = site.place / "files"
    files.mkdir()
    for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
        shutil.copy(npm.packages("swagger", PACKAGE) / "swagger-ui-dist" / name, files)
    (files / "index.html").write_text(_DOCUMENT)
    _describe(site, SMALL if site.small else OPERATIONS, "")


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    return [npm.serve(site)]


def truth(site: Site) -> list[Item]:
    described = json.loads((site.place / "files" / "interface.json").read_text())
    said = [each["get"] for each in described["paths"].values()]
    return [Item((f"{site.url}#/{each['tags'][0]}/{each['operationId']}",), each["operationId"][4:]) for each in said]


def edit(site: Site) -> Edits:
    before = truth(site)
    _describe(site, len(before) + 1, " It was seen twice more.")
    return Edits(before[:2], [truth(site)[-1]])


def _describe(site: Site, count: int, more: str) -> None:
    paths = {
        f"/birds/{article.word}": {
            "get": {
                "operationId": f"get_{article.word}",
                "summary": article.title,
                "description": article.text + (more if article.number < 2 else ""),
                "tags": [f"flock{article.number % TAGS}"],
                "responses": {"200": {"description": "Sightings"}},
            }
        }
        for article in articles(count)
    }
    described = {"openapi": "3.0.3", "info": {"title": "Shore", "version": "1.0"}, "paths": paths}
    (site.place / "files" / "interface.json").write_text(json.dumps(described))
