"""The format of a report: what is written is read back, and nothing else is believed."""

from dataclasses import replace

import msgspec
import pytest

from sanderling.announcements import (
    BadReport,
    Base,
    EventHint,
    Manifest,
    Position,
    ReportedChange,
    chain,
    combined,
    file_of_report,
    in_robots,
    read_delta,
    read_manifest,
    robots_lines,
    write_delta,
    write_manifest,
)
from sanderling.documents.sitemaps import read as read_sitemap
from sanderling_announce.deltas import FAN, Delta, kept, mergers, parts_of
from sanderling_announce.sitemap import Listed, write_index, write_part

SITE = "https://example.org/"
AT = f"{SITE}.well-known/sanderling/manifest.jsonl"
SECRET = bytes(range(32))
NOW = 2_000_000_000.0


def change(path: str, cursor: int, **more: object) -> ReportedChange:
    return msgspec.convert({"url": SITE + path, "what": "changed", "at": NOW, "cursor": cursor, **more}, ReportedChange)


def manifest(**changed: object) -> Manifest:
    plain = Manifest("sanderling-announcement-1", SITE, "a log", 7, NOW, NOW + 600, True, 100)
    return replace(plain, **changed)


def test_a_manifest_is_read_as_it_was_written() -> None:
    file = write_delta(6, 7, [change("a", 7)])
    told = manifest(deltas=(file.delta,), base=Base(3, "sitemap-3-" + "0" * 32 + ".xml"), taken_until=NOW + 5)
    read, key = read_manifest(write_manifest(told, SECRET), AT, now=NOW)
    assert read == told
    assert read_manifest(write_manifest(told, SECRET), AT, now=NOW, key=key).manifest == told


def refused(content: bytes, at: str = AT, seen: Position | None = None, key: str = "") -> str:
    with pytest.raises(BadReport) as caught:
        read_manifest(content, at, now=NOW, seen=seen, key=key)
    return str(caught.value)


def test_what_is_no_manifest_is_refused() -> None:
    good = write_manifest(manifest(), SECRET)
    assert "no manifest" in refused(b"")
    assert "no manifest" in refused(b"<html>404</html>")
    assert "no manifest" in refused(b"[" * 100_000)
    assert "no manifest" in refused(b'{"format": "\xff"}\n{}')
    assert "no manifest" in refused(good.partition(b"\n")[0])
    assert "more than" in refused(good + b" " * 300_000)
    assert "signature" in refused(good.replace(b'"pages":100', b'"pages":101'))
    assert "no manifest" in refused(good.replace(b"announcement-1", b"announcement-2"))


def test_another_signer_another_host_and_old_news_are_refused() -> None:
    key = read_manifest(write_manifest(manifest(), SECRET), AT, now=NOW).key
    other = write_manifest(manifest(), bytes(32))
    assert "somebody else" in refused(other, key=key)
    assert "speaks for https://example.org" in refused(other, at="https://mirror.example/manifest.jsonl")
    # A key that is known speaks from anywhere: so mirrors are possible.
    mirrored = read_manifest(write_manifest(manifest(), SECRET), "https://mirror.example/m", now=NOW, key=key)
    assert mirrored.manifest.site == SITE
    read = Position("a log", 7, NOW)
    assert read_manifest(other, AT, now=NOW, seen=read)
    assert "older" in refused(write_manifest(manifest(cursor=6), SECRET), seen=read)
    assert "older" in refused(write_manifest(manifest(generated=NOW - 1), SECRET), seen=read)
    assert "older" in refused(write_manifest(manifest(log="another", generated=NOW - 1), SECRET), seen=read)
    assert read_manifest(write_manifest(manifest(log="another", cursor=1), SECRET), AT, now=NOW, seen=read)
    assert "future" in refused(write_manifest(manifest(generated=NOW + 9999), SECRET))


@pytest.mark.parametrize(
    "site", ["example.org", "https://example.org", "https://example.org/a", "", "https://example.org/a/../"]
)
def test_a_manifest_says_for_which_site_it_speaks(site: str) -> None:
    assert refused(write_manifest(manifest(site=site), SECRET))


@pytest.mark.parametrize(
    "name", ["../secret", "delta-1-2.jsonl", "https://elsewhere.example/delta-1-2-" + "0" * 32 + ".jsonl"]
)
def test_files_of_a_report_lie_beside_its_manifest(name: str) -> None:
    assert "delta" in refused(write_manifest(manifest(deltas=(Delta(6, 7, 1, 1, name),)), SECRET))
    assert "sitemap" in refused(write_manifest(manifest(base=Base(1, name)), SECRET))


def test_a_delta_is_read_as_it_was_written_best_rank_first() -> None:
    hints = (EventHint(("onclick",), ('div id="next"',), "text.innerHTML", "Updateinfo()"),)
    file = write_delta(
        5,
        7,
        [
            change("low", 6, rank=0.1),
            change("twice", 6),
            change("high", 7, rank=0.9, hints=hints),
            change("twice", 7, what="gone"),
        ],
    )
    read = read_delta(file.delta, file.content, SITE)
    assert [(each.url.removeprefix(SITE), each.what) for each in read] == [
        ("high", "changed"),
        ("low", "changed"),
        ("twice", "gone"),
    ]
    assert read[0].hints == hints
    assert [each.cursor for each in read_delta(file.delta, file.content, SITE, after=6)] == [7, 7]


def test_a_delta_that_was_not_signed_or_leaves_the_site_is_refused() -> None:
    file = write_delta(6, 7, [change("a", 7)])
    with pytest.raises(BadReport, match="other content"):
        read_delta(file.delta, file.content.replace(b"/a", b"/b"), SITE)
    for url in (
        "https://elsewhere.example/",
        "https://example.org.evil.example/",
        "http://example.org/",
        "file:///etc/passwd",
        "",
        "x" * 9000,
    ):
        file = write_delta(6, 7, [ReportedChange(url, "new", NOW, 7)])
        with pytest.raises(BadReport, match="outside"):
            read_delta(file.delta, file.content, SITE)
    file = write_delta(6, 7, [ReportedChange("https://example.org/blog/../admin", "new", NOW, 7)])
    with pytest.raises(BadReport, match="outside"):
        read_delta(file.delta, file.content, SITE + "blog/")
    file = write_delta(6, 7, [change("a", 9)])
    with pytest.raises(BadReport, match="another cursor"):
        read_delta(file.delta, file.content, SITE)


def test_equal_event_lines_are_combined() -> None:
    """The example that was published."""
    click = EventHint(("onclick",), ('button id="move"',), "text.innerHTML", "Updateinfo()")
    load = EventHint(("onload",), ('div id="next"',), "text.innerHTML", "Updateinfo()")
    other = EventHint(("onclick",), ('div id="next"',), "text.innerHTML", "Other()")
    assert combined([click, load, other, click]) == (
        EventHint(("onclick", "onload"), ('button id="move"', 'div id="next"'), "text.innerHTML", "Updateinfo()"),
        other,
    )


def published(cursors: int, most_lines: int = 10**9) -> tuple[list[Delta], dict[str, bytes]]:
    """What an announcer keeps after publications of one change each, of twelve pages in turn."""
    deltas: list[Delta] = []
    files: dict[str, bytes] = {}
    for cursor in range(1, cursors + 1):
        made = [write_delta(cursor - 1, cursor, [change(f"{cursor % 12}", cursor)])]
        deltas.append(made[0].delta)
        files[made[0].delta.name] = made[0].content
        for after, to in mergers(cursor):
            if parts := parts_of(deltas, after, to):
                changes = [each for part in parts for each in read_delta(part, files[part.name], SITE)]
                file = write_delta(after, to, sorted(changes, key=lambda each: each.cursor))
                deltas.append(file.delta)
                files[file.delta.name] = file.content
        deltas = kept(deltas, cursor, most_lines)
        files = {delta.name: files[delta.name] for delta in deltas}
    return deltas, files


def test_a_few_files_lead_from_any_cursor_to_the_newest() -> None:
    newest = 3 * FAN**3 + 5 * FAN + 3
    deltas, files = published(newest)
    assert len(deltas) < 80
    for cursor in [*range(0, newest, 37), *range(newest - 30, newest + 1)]:
        steps = chain(deltas, cursor, newest)
        assert steps is not None and len(steps) <= 3 * FAN
        read = {each.url: each.cursor for step in steps for each in read_delta(step, files[step.name], SITE, cursor)}
        expected = {f"{SITE}{number % 12}": number for number in range(cursor + 1, newest + 1)}
        assert read == expected
    # Whoever reads everything reads each change once.
    assert sum(step.lines for step in chain(deltas, newest - 5, newest) or ()) == 5


def test_a_cursor_that_is_too_old_is_told_to_read_the_sitemap() -> None:
    deltas, _ = published(200, most_lines=50)
    assert sum(delta.lines for delta in deltas) < 150
    assert chain(deltas, 0, 200) is None
    assert chain(deltas, 190, 200) is not None
    assert chain(deltas, 200, 200) == []


def test_a_report_is_found_by_robots_txt() -> None:
    text = "User-agent: *\nDisallow: /x\n" + robots_lines(f"{SITE}.well-known/sanderling/") + "announce: nothing\n"
    assert list(in_robots(text)) == [AT]
    assert len(list(in_robots(f"Announce: {AT}\n" * 1000))) == 100
    assert file_of_report(AT, "sitemap.xml") == f"{SITE}.well-known/sanderling/sitemap.xml"


def test_the_sitemap_says_exactly_when() -> None:
    part = write_part([Listed(f"{SITE}a?b=1&c=2", NOW + 0.25, 0.5), Listed(f"{SITE}b", 0.0, 0.1)])
    entries = list(read_sitemap(part))
    assert [(entry.url, entry.modified) for entry in entries] == [(f"{SITE}a?b=1&c=2", NOW + 0.25), (f"{SITE}b", 0.0)]
    assert [entry.url for entry in read_sitemap(write_index([(f"{SITE}part.xml", NOW)]))] == [f"{SITE}part.xml"]
