"""The same change on many pages is told once: in lists, feeds, digests and notifications."""

from xml.etree import ElementTree

from sanderling.model import ChangeKind, VersionRow
from sanderling.subscriptions import Notify
from sanderling.telling.atom import NAMESPACE, feed
from sanderling.telling.digest import as_tables, as_text, digest
from sanderling.telling.edits import LONGEST, edits
from sanderling.telling.notification import notification
from sanderling.telling.selection import as_table, identity_of
from tests.telling.versions import version

MENU = [
    version(n, f"http://e.org/{n}", summary=f"1 of {n} paragraphs added", excerpt="+ Contact", title=f"Page {n}")
    for n in range(33, 0, -1)
]


def numbers(found: list[VersionRow]) -> list[list[int]]:
    return [[each.number for each in edit.versions] for edit in edits(found)]


def test_an_edit_of_a_menu_is_one() -> None:
    own = version(34, "http://e.org/own", excerpt="79.00 → 75.00")
    assert numbers([own, *MENU]) == [[34], [*range(33, 0, -1)]]
    (found,) = edits(MENU)
    assert found.shown.number == 1, "its id stays while more pages are found"


def test_what_is_not_the_same_edit() -> None:
    other_host = version(2, "http://f.org/2", excerpt="+ Contact")
    other_kind = version(3, "http://e.org/3", ChangeKind.STRUCTURE, excerpt="+ Contact")
    assert numbers([other_kind, other_host, MENU[-1]]) == [[3], [2], [1]]
    later = version(9, "http://e.org/9", excerpt="+ Contact", at=MENU[-1].at + LONGEST + 1)
    assert numbers([later, MENU[-1]]) == [[9], [1]]
    again = version(9, MENU[-1].url, excerpt="+ Contact")
    assert numbers([again, MENU[-1]]) == [[9], [1]], "a page changes twice by two edits"
    news = [version(n, f"http://e.org/{n}", ChangeKind.NEW, summary="new") for n in (2, 1)]
    files = [version(n, f"http://e.org/{n}", summary="another file") for n in (2, 1)]
    assert numbers(news) == numbers(files) == [[2], [1]]


def test_a_feed_has_one_entry() -> None:
    atom = f"{{{NAMESPACE}}}"
    (entry,) = ElementTree.fromstring(feed(MENU, "t", "seed")).findall(atom + "entry")
    assert entry.findtext(atom + "id") == identity_of(MENU[-1])
    assert entry.findtext(atom + "title") == "Page 1 and 32 more (text)"
    assert "http://e.org/33" in (entry.findtext(atom + "summary") or "")


def test_a_digest_has_one_line_that_counts_all_pages() -> None:
    sites = digest(MENU)
    assert list(as_text(sites))[:2] == ["e.org: 33 changed", "  changed  http://e.org/1 and 32 more pages"]
    (row,) = as_tables(sites)[0]["changed"]
    assert len(row["also"]) == 32


def test_a_notification_tells_it_once() -> None:
    told = notification(MENU[::-1], Notify("json://e.org"))
    assert told.subject == "Page 1 and 32 more: + Contact"
    assert told.body.count("+ Contact") == 1
    assert "and 12 more pages" in told.body


def test_programs_group_by_a_key() -> None:
    assert len({as_table(each)["edit"] for each in MENU}) == 1
    assert as_table(version(1))["edit"] != as_table(version(2))["edit"]
