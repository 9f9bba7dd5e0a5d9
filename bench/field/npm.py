"""Packages of npm, and builds of small applications from them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from bench.field.application import FIELD, Site, spawn
from bench.places import BenchError, say

# Serves files only, so that a path which is none is not found. It may get a document with the 404.
_SERVE = """
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

class Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send_error(self, code, *said):
        if code != 404 or len(sys.argv) < 4:
            return super().send_error(code, *said)
        body = Path(sys.argv[1], sys.argv[3]).read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), partial(Handler, directory=sys.argv[1])).serve_forever()
"""


def packages(name: str, *wanted: str) -> Path:
    """The folder `node_modules` with these packages, fetched once."""
    folder = FIELD / "environments" / name
    made, said = folder / "made", "\n".join(wanted)
    if not made.exists() or made.read_text() != said:
        if shutil.which("npm") is None:
            raise BenchError("npm is missing: install Node.js.")
        say(f"Fetching {', '.join(wanted)} from the npm registry (once) ...")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(json.dumps({"private": True}))
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", *wanted]
        try:
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as error:
            raise BenchError(f"npm could not install {', '.join(wanted)}: {error}") from error
        made.write_text(said)
    return folder / "node_modules"


def build(modules: Path, program: str, *arguments: object) -> None:
    """Runs a program of node beside its packages."""
    command = ["node", "-e", program, *map(str, arguments)]
    made = subprocess.run(command, cwd=modules.parent, capture_output=True, text=True)
    if made.returncode:
        raise BenchError(f"The application could not be built: {made.stderr[-500:]}")


def serve(site: Site, missing: str = "") -> subprocess.Popen[bytes]:
    """Serves the files of a site. `missing` is the one that comes with a 404."""
    return spawn(site, sys.executable, "-c", _SERVE, site.place / "files", site.port, *filter(None, [missing]))
