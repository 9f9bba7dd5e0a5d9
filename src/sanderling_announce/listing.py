"""A site that is made from something else than files: whatever lists URLs or paths, each with a
version.

The version is any text that is another one when the page is: a number, a date, a hash. When it is a
date, it is when the page changed.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timezone
from typing import NamedTuple, Optional, Protocol

from sanderling_announce import clock
from sanderling_announce.hints import hints_of
from sanderling_announce.memory import AnnouncedPage, SiteMemory
from sanderling_announce.pages import PageMap, depth
from sanderling_announce.recording import PageState, record, record_gone
from sanderling_announce.scanning import FileSeen, compared

# Between two lists: this many seconds, or this many times as long as one takes.
EVERY, TIMES = 10.0, 50
_TOGETHER = 1000
_LONGEST = 10_000
# Bytes of a page in which events are looked for.
_MOST_HTML = 1024**2

Join = Callable[[str, str], Optional[str]]


class CannotList(Exception):
    """There is no list; the text says why."""


class ListedPage(NamedTuple):
    name: str  # a URL, absolute or relative to the site; or a path, when the list names files
    version: str
    content: str = ""  # for `Lister.html_of`; empty when nothing is known of it


class Lister(Protocol):
    def changed(self) -> bool:
        """Whether there may be a new list."""
        ...

    def pages(self) -> Iterator[ListedPage]: ...

    def is_of_files(self) -> bool: ...

    def html_of(self, content: str) -> bytes:
        """The page of which a list said this; empty when it is not to be had."""
        ...


class CommandLister:
    """The output of a command: a line a page, its URL and its version with a tab or blanks
    between, perhaps with a tab and the name of a file that holds the page."""

    def __init__(self, command: str) -> None:
        self._command = command

    def html_of(self, content: str) -> bytes:
        try:
            with open(content, "rb") as file:
                return file.read(_MOST_HTML)
        except (OSError, ValueError):
            return b""

    def changed(self) -> bool:
        return True

    def is_of_files(self) -> bool:
        return False

    def pages(self) -> Iterator[ListedPage]:
        import subprocess

        with subprocess.Popen(self._command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
            assert process.stdout
            while line := process.stdout.readline(_LONGEST):
                name, _, version = line.decode("utf-8", "replace").strip().partition("\t" if b"\t" in line else " ")
                version, _, content = version.partition("\t")
                if name:
                    yield ListedPage(name, version.strip(), content.strip())
        if process.returncode:
            raise CannotList(f"the command ended with {process.returncode}")


class SqlLister:
    """The rows of a query: the URL of a page, its version, and perhaps the page itself."""

    def __init__(self, database: str, query: str) -> None:
        self._database = database
        self._query = query

    def changed(self) -> bool:
        return True

    def is_of_files(self) -> bool:
        return False

    def pages(self) -> Iterator[ListedPage]:
        rows = self._postgresql() if "://" in self._database else self._sqlite()
        for row in rows:
            if len(row) not in (2, 3):
                raise CannotList(
                    f"the query gives {len(row)} columns instead of the URL, the version and perhaps the page"
                )
            if row[0] is not None:
                yield ListedPage(str(row[0]), _as_version(row[1]), _as_text(row[2]) if len(row) > 2 else "")

    def html_of(self, content: str) -> bytes:
        return content[:_MOST_HTML].encode("utf-8", "replace")

    def _sqlite(self) -> Iterator[tuple[object, ...]]:
        from pathlib import Path

        try:
            with closing(sqlite3.connect(f"{Path(self._database).absolute().as_uri()}?mode=ro", uri=True)) as database:
                yield from database.execute(self._query)
        except sqlite3.Error as error:
            raise CannotList(f"{self._database}: {error}") from None

    def _postgresql(self) -> Iterator[tuple[object, ...]]:
        try:
            import psycopg
        except ImportError:
            raise CannotList("psycopg is not installed (`pip install psycopg`)") from None
        try:
            with psycopg.connect(self._database) as connection:
                connection.read_only = True
                with connection.cursor("announce") as cursor:
                    yield from cursor.execute(self._query.encode())
        except psycopg.Error as error:
            raise CannotList(f"PostgreSQL: {str(error).partition(chr(10))[0]}") from None


class GitLister:
    """The files of a branch of a git repository, which may be bare. Git has the hash of each."""

    def __init__(self, repository: str, branch: str) -> None:
        self._where = ["git", "-C", repository]
        self._branch = branch
        self._listed = ""
        self._commit = ""

    def changed(self) -> bool:
        self._commit = self._run("rev-parse", "--verify", "--quiet", f"{self._branch}^{{commit}}").decode().strip()
        return self._commit != self._listed

    def is_of_files(self) -> bool:
        return True

    def pages(self) -> Iterator[ListedPage]:
        for line in self._run("ls-tree", "-r", "-z", "--full-tree", self._commit).split(b"\0"):
            about, _, path = line.partition(b"\t")
            if path and about.startswith(b"100"):  # regular files, no links
                blob = about.split()[2].decode()
                yield ListedPage(path.decode("utf-8", "surrogateescape"), blob, blob)
        self._listed = self._commit

    def html_of(self, content: str) -> bytes:
        return self._run("cat-file", "blob", content)[:_MOST_HTML]

    def _run(self, *arguments: str) -> bytes:
        import subprocess

        try:
            done = subprocess.run(
                [*self._where, *arguments], capture_output=True, stdin=subprocess.DEVNULL, check=False
            )
        except OSError as error:
            raise CannotList(f"git cannot be run: {error.strerror}") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            raise CannotList(said or f"there is no branch {self._branch}")
        return done.stdout


class ListSource:
    """Compares list after list with the memory."""

    def __init__(
        self, lister: Lister, pages: PageMap, memory: SiteMemory, say: Callable[[str], None], join: Join,
        every: float = 0.0,
    ) -> None:  # fmt: skip
        self.hints = True  # turned off in rush hours
        self._lister = lister
        self._pages = pages
        self._memory = memory
        self._say = say
        self._join = join
        self._every = every or EVERY
        self._next = 0.0
        self.trouble = ""
        self.complete = bool(memory.fact("complete", 0))
        self.settled = False

    how = "lists"

    def close(self) -> None:
        pass

    def step(self, now: float) -> float:
        if now < self._next:
            return self._next
        start = time.monotonic()
        try:
            if self._lister.changed():
                self._take()
            self.trouble = ""
            self.settled = True
        except CannotList as why:
            trouble = f"there is no list: {why}"
            if trouble != self.trouble:
                self._say(f"{trouble}; nothing is announced")
            self.trouble = trouble
        self._next = clock.now() + max(self._every, TIMES * (time.monotonic() - start))
        return self._next

    def _take(self) -> None:
        # Sorted on disk: a list may be long, and comes in any order.
        with closing(sqlite3.connect("", isolation_level=None)) as sorter:
            sorter.execute("CREATE TABLE listed (key BLOB PRIMARY KEY, version TEXT, content TEXT) WITHOUT ROWID")
            sorter.execute("BEGIN")
            outside = 0
            for page in self._lister.pages():
                key = self._key(page.name)
                outside += key is None
                if key is not None:
                    sorter.execute("INSERT OR REPLACE INTO listed VALUES (?, ?, ?)", (key, page.version, page.content))
            (count,) = sorter.execute("SELECT count(*) FROM listed").fetchone()
            if not count:
                raise CannotList(f"it names no page below {self._pages.site}")
            if outside and not self._lister.is_of_files():
                self._say(f"{outside:,} URLs of the list are not below {self._pages.site}, and are left out")
            self._compare(sorter)
        if not self.complete:
            self._memory.remember("complete", 1)
            self.complete = True

    def _key(self, name: str) -> bytes | None:
        if self._lister.is_of_files():
            path = name.encode("utf-8", "surrogateescape")
            return path if self._pages.url(path) else None
        url = self._join(self._pages.site, name)
        return url.encode() if url and url.startswith(self._pages.site) else None

    def url_of(self, key: bytes) -> str:
        return (self._pages.url(key) or "") if self._lister.is_of_files() else key.decode()

    def _compare(self, sorter: sqlite3.Connection) -> None:
        versions: dict[bytes, tuple[str, str]] = {}

        def listed() -> Iterator[FileSeen]:
            for key, version, content in sorter.execute("SELECT key, version, content FROM listed ORDER BY key"):
                versions[key] = version, content
                yield FileSeen(key, 0, 0, 0)

        pairs = compared(listed(), self._memory.pages())
        now = clock.now()
        more = True
        while more:
            with self._memory.together():
                more = False
                for number, (seen, row) in enumerate(pairs, 1):
                    self._settle(versions.pop(seen.path) if seen else None, seen.path if seen else b"", row, now)
                    if number == _TOGETHER:
                        more = True
                        break

    def _settle(self, said: tuple[str, str] | None, key: bytes, row: AnnouncedPage | None, now: float) -> None:
        if said is None:
            if row is not None:
                record_gone(self._memory, row, self.url_of(row.key), now, announce=self.complete)
            return
        version, content = said
        hashed = self._memory.hasher()
        hashed.update(version.encode("utf-8", "surrogateescape"))
        digest = hashed.digest()
        if row is None or row.hash != digest:
            url = self.url_of(key)
            at = _when(version, now) or (now if self.complete else 0.0)
            known = self.hints and self.complete and content
            hints = hints_of(key, self._lister.html_of(content)) if known else ()
            record(
                self._memory, PageState(key, url, depth(url, self._pages.site), digest, at, hints=hints), row,
                announce=self.complete,
            )  # fmt: skip


def _as_text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")


def _as_version(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _when(version: str, now: float) -> float:
    """The time that a version is, by ISO 8601 or in seconds since 1970; 0 when it is something
    else."""
    try:
        found = float(version)
    except ValueError:
        try:
            at = datetime.fromisoformat(version.replace("Z", "+00:00"))
        except ValueError:
            return 0.0
        found = (at if at.tzinfo else at.replace(tzinfo=timezone.utc)).timestamp()
    return found if 1e9 < found <= now else 0.0
