"""Files of which only bytes and size are known: those that differ at every visit are learned, and
all else is told."""

import gzip
import random
from pathlib import Path

import pytest

from sanderling.change import Noise
from sanderling.change.judging import judge
from sanderling.change.packing import same_size
from sanderling.change.textless import MAX_KINDS, kind_of, learn_kind
from sanderling.model import Before, Outcome, State, Visit
from tests.change.test_packing import zipped
from tests.conftest import FAST, Run
from tests.servers import Answer, PageServer

GZIP = "application/gzip"


class VisitedFile:
    """A file that is visited again and again, judged as a crawl judges it."""

    def __init__(self, mime: str = GZIP) -> None:
        self.before = Before(b"", b"", State.FETCHED, 200, None, True, mime=mime)

    def visit(self, site: Noise, fate: str, watched: bool = False) -> tuple[bool, Noise]:
        """Whether a visit brings news, and what is known of the site then. The file is the "same",
        differs by its "bytes", or has another "size"."""
        outcome = Outcome.UNCHANGED if fate == "same" else Outcome.PAGE
        visit = Visit(id=1, outcome=outcome, status=200, at=1.0, size=9, digest=b"", mime=self.before.mime)
        judged = judge(visit, self.before, lambda before: b"", site, watched, None, lambda: fate == "bytes")
        self.before = self.before._replace(noise=judged.noise)
        return judged.change is not None and judged.change.news, judged.template

    def news(self, *fates: str, site: Noise | None = None, watched: bool = False) -> list[bool]:
        told = []
        site = site or Noise()
        for fate in fates:
            news, _ = self.visit(site, fate, watched)
            told.append(news)
        return told


def taught(*fates: str) -> tuple[int, Noise]:
    """How many files with these fates at their first revisit are news, and what the site learns."""
    site, told = Noise(), 0
    for fate in fates:
        news, site = VisitedFile().visit(site, fate)
        told += news
    return told, site


@pytest.mark.parametrize("mime", [GZIP, "text/x-unread"])
def test_a_file_that_differs_at_every_visit_is_learned_but_another_size_is_news(mime: str) -> None:
    file = VisitedFile(mime)
    assert file.news(*["bytes"] * 5) == [True, True, True, False, False]
    assert file.news("size", "bytes", "size") == [True, False, True]
    assert file.news("same", *["bytes"] * 2) == [False, False, False]


def test_a_file_that_differs_in_its_size_at_every_visit_is_learned() -> None:
    assert VisitedFile().news(*["size"] * 5) == [True, True, True, False, False]


def test_a_file_that_changes_now_and_then_is_told_each_time() -> None:
    assert VisitedFile().news(*["same", "bytes", "same"] * 5) == [False, True, False] * 5


def test_a_watched_file_is_told_each_time() -> None:
    assert VisitedFile().news(*["bytes"] * 6, watched=True) == [True] * 6


def test_a_site_learns_at_the_first_revisit_of_many_files() -> None:
    told, site = taught(*["bytes"] * 40)
    assert told == 8
    assert VisitedFile().news("bytes", "bytes", site=site) == [False, False]
    assert VisitedFile().news("size", site=site) == [True]
    assert VisitedFile("application/zip").news("bytes", site=site) == [True]
    steady = VisitedFile()
    assert steady.news("same", "bytes", site=site) == [False, True]


def test_a_site_learns_nothing_from_a_few_files_or_from_files_that_change_their_size() -> None:
    assert taught(*["bytes", "same", "same"] * 20)[0] == 20
    told, site = taught(*["size"] * 40)
    assert told == 40
    assert VisitedFile().news("bytes", site=site) == [True]


def test_what_a_site_learns_of_files_is_bounded() -> None:
    site = Noise()
    for number in range(2 * MAX_KINDS):
        site = learn_kind(site, f"application/x-{number}", Noise(), set())
    assert len(site.files) == MAX_KINDS
    assert [kind_of(each) for each in ("text/html", "image/png", "application/rss+xml")] == ["", "", ""]


def test_the_size_of_what_is_packed() -> None:
    chance = random.Random(5)
    one, other = (chance.randbytes(3_000).hex() for _ in range(2))
    assert same_size(gzip.compress(one.encode()), gzip.compress(other.encode()))
    assert not same_size(gzip.compress(one.encode()), gzip.compress(f"{one}.".encode()))
    assert same_size(zipped(one, 2025), zipped(other, 2025))
    assert not same_size(zipped(one, 2025), zipped(f"{one}.", 2025))
    assert same_size(b"one", b"two")
    assert not same_size(b"one", b"three")


def test_exports_that_are_made_anew_are_told_no_more_but_their_edits_are(sanderling: Run, tmp_path: Path) -> None:
    edited = dict.fromkeys(range(12), "")
    chance = random.Random(7)

    def export(number: int) -> Answer:
        mail = f"boundary={chance.randrange(10**19):019}\nMail {number}{edited[number]}"
        return Answer(gzip.compress(mail.encode(), mtime=1), GZIP)

    table = {f"/{number}.mbox.gz": lambda _, number=number: export(number) for number in edited}
    index = "".join(f"<a href={path}>{path}</a> " for path in table)
    with PageServer({"/": f"<p>Mail {index}".encode(), **table}) as server:
        folder = tmp_path / "crawl"

        def told() -> set[str]:
            sanderling("crawl", "-d", folder, "--again", "--json")
            rows = sanderling("changes", folder, "--json").lines
            before = set(seen)
            seen.update((row["url"], row["at"]) for row in rows)
            return {url.removeprefix(server.origin) for url, at in seen - before}

        seen: set[tuple[str, str]] = set()
        assert sanderling("crawl", f"{server.origin}/", "-d", folder, *FAST, "--json").json["pages"] == 13
        assert len(told()) == 8
        assert told() == set()
        edited[3], edited[11] = ", edited", ", answered"
        assert told() == {"/3.mbox.gz", "/11.mbox.gz"}
