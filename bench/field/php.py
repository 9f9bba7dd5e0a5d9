"""Applications in PHP, with the server that PHP brings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from bench.field.application import Site, spawn

PACKAGES = ("php-cli", "php-sqlite3", "php-mysql", "php-xml", "php-mbstring", "php-intl", "php-gd", "php-curl")
WORKERS = "4"


def serve(site: Site, root: Path, router: Path | None = None) -> subprocess.Popen[bytes]:
    """Serves a folder. A router is a script that is asked first for every path."""
    command = ["php", "-q", "-S", f"127.0.0.1:{site.port}", "-t", root, *([router] if router else [])]
    return spawn(site, *command, environment={**os.environ, "PHP_CLI_SERVER_WORKERS": WORKERS})
