"""cgit of Debian: every file can be asked for at every commit, in many views."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from bench.field import lighttpd, repository
from bench.field.application import Edits, Item, Manners, Site
from bench.places import need_debian

PROGRAM = "/usr/lib/cgit/cgit.cgi"
MANNERS = Manners(lists=rf"^/({repository.NAME}/((tree|log|refs)/[^?]*)?(\?(ofs=\d+))?)?$")
_SETTINGS = """css=/cgit.css
virtual-root=/
enable-index-links=1
enable-log-filecount=1
root-title=Repositories
remove-suffix=1
robots=index, follow
snapshots=tar.gz
scan-path={repositories}
"""


def install() -> None:
    need_debian("cgit", "git", *lighttpd.PACKAGES)


def fill(site: Site) -> None:
    repository.make(site, *((12, 4) if site.small else ()))
    settings(site)


def settings(site: Site) -> None:
    (site.place / "cgitrc").write_text(_SETTINGS.format(repositories=site.place / "repositories"))


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    aliases = {"/cgit.css": "/usr/share/cgit/cgit.css"}
    more = lighttpd.program(
        PROGRAM, aliases, {"CGIT_CONFIG": str(site.place / "cgitrc"), "GIT_CONFIG_GLOBAL": "/dev/null"}
    )
    return [lighttpd.serve(site, site.place / "repositories", more)]


def truth(site: Site) -> list[Item]:
    """All files as they are now, then all commits."""
    base, ids = f"{site.url}{repository.NAME}", repository.commits(site)
    files = [
        Item(
            (f"{base}/tree/{name}", f"{base}/tree/{name}?h=master", f"{base}/tree/{name}?id={ids[0]}"),
            repository.word_of(name),
        )
        for name in repository.files(site)
    ]
    commits = [
        Item(
            (
                f"{base}/commit/?id={id}",
                f"{base}/commit/?h=master&id={id}",
                *([f"{base}/commit/"] if id == ids[0] else []),
            )
        )
        for id in ids
    ]
    return files + commits


def edit(site: Site) -> Edits:
    before = truth(site)
    edits = repository.edit(site, before, {name: at for at, name in enumerate(repository.files(site))})
    known = {item.urls[0] for item in before}
    return Edits(edits.changed, [item for item in truth(site) if item.urls[0] not in known])
