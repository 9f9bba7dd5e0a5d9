"""The web to crawl: the documentation of four Debian packages behind nginx on loopback."""

from __future__ import annotations

import getpass
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from bench.measure import TICK, descendants
from bench.places import CACHE, BenchError, files_of, need_debian, version_of


@dataclass(frozen=True)
class Tree:
    """The pages of one package: their place on the site, and their start page."""

    name: str
    package: str
    entry: str


# The start page of the Java documentation is below its root, because its pages link to siblings of
# api/.
TREES = (
    Tree("java", "openjdk-17-doc", "api/index.html"),
    Tree("apache", "apache2-doc", "manual/index.html"),
    Tree("postgresql", "postgresql-doc-15", "html/index.html"),
    Tree("python", "python3.11-doc", "html/index.html"),
)

INDEX_PAGE = """\
<!DOCTYPE html>
<html><head><title>Documentation</title></head>
<body><ul>
{}
</ul></body></html>
"""

CONFIGURATION = """\
{user}
worker_processes 1;
daemon off;
pid {prefix}/nginx.pid;
error_log {prefix}/error.log warn;
events {{ worker_connections 4096; }}
http {{
  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  access_log off;
  gzip off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 10000000;
  keepalive_timeout 600s;
  open_file_cache max=40000 inactive=600s;
  client_body_temp_path {prefix}/body;
  proxy_temp_path {prefix}/proxy;
  fastcgi_temp_path {prefix}/fastcgi;
  uwsgi_temp_path {prefix}/uwsgi;
  scgi_temp_path {prefix}/scgi;
  server {{
    {listens}
    root {root};
    index index.html;
    autoindex off;
    location = /nginx-status {{ stub_status; }}
  }}
}}
"""


@dataclass(frozen=True)
class Web:
    root: Path
    port: int
    nginx: int = 0
    addresses: int = 1

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    @property
    def urls(self) -> list[str]:
        """The same pages at every address."""
        return [f"http://127.0.0.{number}:{self.port}/" for number in range(1, self.addresses + 1)]

    def requests(self) -> int:
        """Requests that nginx has answered since it started, without this one."""
        with urlopen(f"{self.url}nginx-status", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return int(lines[2].split()[2]) - 1

    def cpu(self) -> float:
        """CPU seconds nginx has used."""
        stats = descendants(self.nginx).values()
        return sum(int(stat[11]) + int(stat[12]) for stat in stats) / TICK


def build() -> Path:
    """Makes the root of the site: an index page and a symbolic link to each package's pages. nginx
    follows the links."""
    need_debian("nginx", *(tree.package for tree in TREES))
    root = CACHE / "web"
    root.mkdir(parents=True, exist_ok=True)
    entries = []
    for tree in TREES:
        _point(root / tree.name, _home(tree))
        entries.append(f'<li><a href="{tree.name}/{tree.entry}">{tree.package}</a></li>')
    _write(root / "index.html", INDEX_PAGE.format("\n".join(entries)))
    return root


def versions() -> dict[str, str | None]:
    """The versions of the packages. If they are the same, the pages are the same."""
    return {tree.package: version_of(tree.package) for tree in TREES}


@contextmanager
def serve(port: int = 0, addresses: int = 1) -> Iterator[Web]:
    web = Web(build(), free_port(port), addresses=addresses)
    with tempfile.TemporaryDirectory(prefix="nginx-", dir=CACHE) as prefix:
        configuration = Path(prefix, "nginx.conf")
        # The site is in the user's folder, which nginx's default user may not be able to read.
        user = f"user {getpass.getuser()};" if getpass.getuser() == "root" else ""
        listens = "\n    ".join(f"listen {urlsplit(url).netloc} backlog=4096;" for url in web.urls)
        configuration.write_text(CONFIGURATION.format(user=user, prefix=prefix, root=web.root, listens=listens))
        nginx = subprocess.Popen(
            ["/usr/sbin/nginx", "-p", prefix, "-c", str(configuration)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _await(web, nginx, Path(prefix, "error.log"))
            yield replace(web, nginx=nginx.pid)
        finally:
            nginx.terminate()
            nginx.wait()


def free_port(wanted: int) -> int:
    """`wanted` if the port is free, else any free port. Another server on that port would answer
    instead of nginx."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
        except OSError as error:
            raise BenchError(f"Port {wanted} cannot be used: {error.strerror}.") from error
        port: int = probe.getsockname()[1]
        return port


def _home(tree: Tree) -> str:
    """The real folder of a package's pages, from dpkg, because Debian moves them between
    releases."""
    tail = f"/{tree.entry}"
    found = [path for path in files_of(tree.package) if path.endswith(tail) and not Path(path).is_symlink()]
    if not found:
        raise BenchError(f"The package {tree.package} holds no {tree.entry}; its layout is not the one expected.")
    return min(found, key=len).removesuffix(tail)


# Another run may be serving this root, so correct links stay untouched and wrong ones are replaced
# in one step.


def _point(link: Path, home: str) -> None:
    if not link.is_symlink() or str(link.readlink()) != home:
        fresh = link.with_name(f".{link.name}-{os.getpid()}")
        fresh.symlink_to(home)
        fresh.replace(link)


def _write(file: Path, text: str) -> None:
    if not file.exists() or file.read_text() != text:
        fresh = file.with_name(f".{file.name}-{os.getpid()}")
        fresh.write_text(text)
        fresh.replace(file)


def _await(web: Web, nginx: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(100):
        if nginx.poll() is not None:
            reason = log.read_text().strip() if log.exists() else "no log was written"
            raise BenchError(f"nginx did not start: {reason}")
        try:
            web.requests()
            return
        except (URLError, ConnectionError):
            time.sleep(0.05)
    raise BenchError("nginx did not answer within 5 seconds.")
