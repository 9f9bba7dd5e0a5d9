"""Folders and CGI programs, with lighttpd."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from bench.field.application import Site, spawn

PACKAGES = ("lighttpd",)
_SETTINGS = """
server.port = {port}
server.bind = "127.0.0.1"
server.document-root = "{root}"
server.modules = ("mod_setenv", "mod_alias", "mod_cgi", "mod_dirlisting")
mimetype.assign = (
  ".html" => "text/html", ".txt" => "text/plain", ".css" => "text/css", ".js" => "text/javascript",
  ".png" => "image/png", ".json" => "application/json", "" => "application/octet-stream"
)
index-file.names = ("index.html")
{more}
"""


def serve(site: Site, root: Path, more: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Serves a folder; `more` is text of its settings."""
    settings = site.place / "lighttpd.conf"
    settings.write_text(_SETTINGS.format(port=site.port, root=root, more=more))
    return spawn(site, "lighttpd", "-D", "-f", settings, environment={**os.environ, **(environment or {})})


def program(path: str, aliases: Mapping[str, str], environment: Mapping[str, str]) -> str:
    """The settings for one CGI program that answers every path but the aliases."""
    named = "".join(f'alias.url += ("{url}" => "{file}")\n' for url, file in [*aliases.items(), ("/", f"{path}/")])
    said = ", ".join(f'"{name}" => "{value}"' for name, value in environment.items())
    return f'{named}cgi.assign = ("{Path(path).name}" => "")\nsetenv.add-environment = ({said})\n'
