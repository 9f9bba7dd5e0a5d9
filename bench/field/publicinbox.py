"""public-inbox of Debian: an archive of mails with threads and a search (Xapian)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from bench.field.application import Edits, Item, Manners, Site, spawn
from bench.field.content import Article, articles
from bench.places import need_debian

MAILS, HIDDEN = 100, 400
MANNERS = Manners(
    "shore/",
    lists=r"^/shore/(\?t=\d+|new\.html)?$",
    # The newest mails are listed on the first page. Its other pages are left out.
    forms=("--forms", "search", "--exclude", r"/shore/\?t=|/raw$|\.(mbox\.gz|atom)"),
)
_FIRST = 1_700_000_000


def install() -> None:
    need_debian(
        "public-inbox", "git", "libsearch-xapian-perl", "libdbd-sqlite3-perl", "libplack-perl", "libinline-c-perl"
    )


def fill(site: Site) -> None:
    _run(site, "git", "config", "-f", site.place / "config", "publicinboxmda.spamcheck", "none")
    _run(
        site,
        "public-inbox-init",
        "-V2",
        "-L",
        "full",
        "shore",
        site.place / "mails",
        f"{site.url}shore",
        "shore@example.org",
    )
    _deliver(site, articles(MAILS), _FIRST)


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    return [spawn(site, "public-inbox-httpd", "-l", f"127.0.0.1:{site.port}", "-W0", environment=_home(site))]


def truth(site: Site) -> list[Item]:
    return _items(site, articles(MAILS))


def edit(site: Site) -> Edits:
    """Mails do not change; new ones come."""
    new = articles(1, first=9000)
    _deliver(site, new, _FIRST + 10_000_000)
    return Edits(new=_items(site, new))


def hide(site: Site) -> list[Item]:
    """Older mails, which are behind the first page of the list."""
    hidden = articles(HIDDEN, first=1000)
    _deliver(site, hidden, _FIRST - 10_000_000)
    return _items(site, hidden)


def _items(site: Site, known: Sequence[Article]) -> list[Item]:
    """A mail, or the page of its thread."""
    names = [(f"{article.word}@example.org", article.word) for article in known]
    return [
        Item((f"{site.url}shore/{name}/", f"{site.url}shore/{name}/T/", f"{site.url}shore/{name}/t/"), word)
        for name, word in names
    ]


def _deliver(site: Site, known: Sequence[Article], since: int) -> None:
    for number, a in enumerate(known):
        when = subprocess.run(
            ["date", "-u", "-R", "-d", f"@{since + 3600 * number}"], capture_output=True, text=True, check=True
        )
        mail = (
            f"From: Keeper <keeper@example.org>\nTo: shore@example.org\nSubject: {a.title}\nDate: {when.stdout.strip()}\n"
            f"Message-ID: <{a.word}@example.org>\nContent-Type: text/plain; charset=utf-8\n\n{a.text}\n"
        )
        _run(site, "public-inbox-mda", "--no-precheck", given=mail)


def _run(site: Site, *command: object, given: str = "") -> None:
    with (site.place / "log").open("ab") as log:
        subprocess.run([*map(str, command)], input=given.encode(), check=True, stdout=log, stderr=log, env=_home(site))


def _home(site: Site) -> dict[str, str]:
    return {
        **os.environ,
        "HOME": str(site.place),
        "PI_CONFIG": str(site.place / "config"),
        "ORIGINAL_RECIPIENT": "shore@example.org",
    }
