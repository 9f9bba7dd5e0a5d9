"""gitweb of Debian: the same repository as cgit. Its pages forbid robots to follow them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from bench.field import lighttpd, repository
from bench.field.application import Edits, Item, Manners, Site
from bench.places import need_debian

PROGRAM = "/usr/share/gitweb/gitweb.cgi"
MANNERS = Manners(
    options=("--ignore-robots",),
    lists=rf"^/(\?p={repository.NAME}\.git(;a=(summary|log|shortlog|tree|heads)(;[^;]*)*)?)?$",
)


def install() -> None:
    need_debian("gitweb", "git", "libcgi-pm-perl", *lighttpd.PACKAGES)


def fill(site: Site) -> None:
    repository.make(site, *((12, 4) if site.small else ()))
    (site.place / "gitweb.conf").write_text(
        f'$projectroot = "{site.place}/repositories";\n$git_temp = "/tmp";\n$home_link = "/";\n$my_uri = "/";\n1;\n'
    )


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    aliases = {"/static": "/usr/share/gitweb/static"}
    settings = {"GITWEB_CONFIG": str(site.place / "gitweb.conf"), "GIT_CONFIG_GLOBAL": "/dev/null"}
    return [lighttpd.serve(site, site.place / "repositories", lighttpd.program(PROGRAM, aliases, settings))]


def truth(site: Site) -> list[Item]:
    """All files as they are now, then all commits."""
    base, ids = f"{site.url}?p={repository.NAME}.git", repository.commits(site)
    files = []
    for name, blob in repository.blobs(site).items():
        shown = [f"{base};a=blob;f={name};h={blob};hb={at}" for at in (*ids, "HEAD", "refs/heads/master")]
        files.append(Item(tuple(shown), repository.word_of(name)))
    commits = [Item(tuple(f"{base};a={view};h={id}" for view in ("commit", "commitdiff"))) for id in ids]
    return files + commits


def edit(site: Site) -> Edits:
    """A file that changes is another page of gitweb, whose URLs name contents."""
    before = {url for item in truth(site) for url in item.urls}
    repository.edit(site, truth(site), {name: at for at, name in enumerate(repository.files(site))})
    return Edits(new=[item for item in truth(site) if before.isdisjoint(item.urls)])
