"""Reports of sites: read as far as they go beyond the last reading, and not believed when anything
is wrong."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest

from sanderling.announcements import (
    BadReport,
    Base,
    EventHint,
    Manifest,
    ReportedChange,
    named_for,
    write_delta,
    write_manifest,
)
from sanderling.announcements.manifest import LONGEST_UNTIL
from sanderling.network.one_request import Answer
from sanderling.server.revisits import reports
from sanderling.server.revisits.reports import Reading, ReportReader
from sanderling_announce.deltas import DeltaFile

SITE = "http://e.org/"
AT = f"{SITE}.well-known/sanderling/manifest.jsonl"
SECRET, OTHER = bytes(range(32)), bytes(32)
NOW = 1_000_000.0


class Published:
    """Answers like the web server of a site with a report."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.deltas: list[DeltaFile] = []
        self.asked: list[str] = []
        self.manifest = Manifest("sanderling-announcement-1", SITE, "log", 0, NOW, NOW + 600, True, 3)

    def publish(
        self,
        *names: str,
        secret: bytes = SECRET,
        site: str = SITE,
        at: float = NOW,
        pages: Sequence[ReportedChange] = (),
        **changes: object,
    ) -> None:
        cursor = self.manifest.cursor + 1
        pages = [*pages, *(ReportedChange(f"{site}{name}", "changed", at, cursor) for name in names)]
        delta = write_delta(cursor - 1, cursor, pages)
        self.files[delta.delta.name] = delta.content
        self.deltas.append(delta)
        fields = {"cursor": cursor, "deltas": tuple(each.delta for each in self.deltas), **changes}
        self.manifest = replace(self.manifest, **fields)
        self.files["manifest.jsonl"] = write_manifest(self.manifest, secret)

    def get(self, url: str, most: int, etag: str) -> Answer:
        name = url.rpartition("/")[2]
        self.asked.append(name)
        content = self.files.get(name)
        if content is None:
            return Answer(404)
        mark = str(hash(content))
        return Answer(304) if etag == mark else Answer(200, {"etag": mark}, content[:most], len(content) > most)


def names(reading: Reading | None) -> list[str]:
    assert reading is not None
    return sorted(page.url.removeprefix(SITE) for page in reading.pages)


@pytest.fixture
def site() -> Published:
    made = Published()
    made.publish("a", "b")
    return made


def test_event_hints_become_events_on_elements(site: Published) -> None:
    named = EventHint(("onclick", "onload"), ('div id="next"', "td", 'b id="x"] *, [y="'), "text.innerHTML", "more()")
    strange = EventHint(("onmouseover",), ("p, *", '<p id="a">'), "", "x()")
    own = EventHint(("onclick",), ("li",), "text.innerHTML", "open(this.id)")
    cursor = site.manifest.cursor + 1
    site.publish(pages=[ReportedChange(f"{SITE}c", "changed", NOW, cursor, hints=(named, named, strange, own))])
    reading = ReportReader(AT, site.get).read(NOW)
    assert reading is not None
    assert {page.url: [*map(tuple, page.events)] for page in reading.pages} == {
        f"{SITE}a": [],
        f"{SITE}b": [],
        f"{SITE}c": [  # once each, and nothing else; what depends on its element is in no group
            ("click", 'div[id="next"]', 1),
            ("click", "td[onclick]", 1),
            ("click", "li[onclick]", 0),
        ],
    }


def test_only_what_is_new_is_read(site: Published) -> None:
    reader = ReportReader(AT, site.get)
    first = reader.read(NOW)
    assert names(first) == ["a", "b"] and first is not None and first.complete and first.silence_until == NOW
    again = reader.read(NOW + 5)
    assert names(again) == [] and again is not None and again.silence_until == NOW + 5
    site.publish("c", generated=NOW + 8, until=NOW + 900)
    site.asked.clear()
    assert names(reader.read(NOW + 9)) == ["c"]
    assert site.asked == ["manifest.jsonl", site.deltas[-1].delta.name]
    # Another process goes on where this one was.
    site.publish("d", generated=NOW + 10)
    assert names(ReportReader(AT, site.get, before=reader.state).read(NOW + 11)) == ["d"]


def test_a_dead_announcer_says_nothing_by_its_silence(site: Published) -> None:
    reader = ReportReader(AT, site.get)
    reader.read(NOW)
    late = reader.read(NOW + 10_000)
    assert late is not None and late.silence_until == NOW + 600


def test_a_report_of_a_part_of_a_host_says_nothing_of_the_rest(site: Published) -> None:
    site.manifest = replace(site.manifest, site=f"{SITE}docs/")
    site.deltas.clear()
    site.publish("docs/a", generated=NOW)
    found = ReportReader(AT, site.get).read(NOW)
    assert found is not None and not found.complete and found.silence_until == 0.0


def test_a_cursor_that_is_too_old_leads_to_the_sitemap(site: Published) -> None:
    part = b"""<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://e.org/x</loc>
    <lastmod>1970-01-02T00:00:00.000Z</lastmod></url></urlset>"""
    part_name = named_for("sitemap-part-0", part, "xml")
    index = f"""<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap>
    <loc>http://e.org/.well-known/sanderling/{part_name}</loc></sitemap></sitemapindex>""".encode()
    site.files |= {part_name: part, named_for("sitemap-1", index, "xml"): index}
    site.publish("c", base=Base(1, named_for("sitemap-1", index, "xml")))
    found = ReportReader(AT, site.get).read(NOW)
    assert names(found) == ["c", "x"] and found is not None
    assert {page.url: page.at for page in found.pages}[f"{SITE}x"] == 86_400.0


def test_a_clock_that_is_late_is_corrected(site: Published) -> None:
    reader = ReportReader(AT, site.get)
    reader.read(NOW + 100)
    site.publish("late", at=NOW + 5, generated=NOW + 10)  # but we looked at NOW + 100, and it was not there
    found = reader.read(NOW + 110)
    assert found is not None and found.pages[0].at == NOW + 95


def test_no_report_is_no_mistake(site: Published) -> None:
    site.files.clear()
    assert ReportReader(AT, site.get).read(NOW) is None


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (lambda s: s.publish("x", generated=NOW - 50), "older than one that was read before"),
        (lambda s: s.publish("x", generated=NOW + 5000), "from the future"),
        (lambda s: s.publish("x", secret=OTHER), "signed by somebody else"),
        (lambda s: s.publish("x", site="http://other.org/"), "names a URL outside"),
        (lambda s: _elsewhere(s), "speaks for"),
        (lambda s: s.files.update({"manifest.jsonl": b"{}"}), "is no manifest"),
        (lambda s: s.files.update({"manifest.jsonl": b"x" * 300_000}), "more than"),
        (lambda s: (s.publish("x"), s.files.pop(s.deltas[-1].delta.name)), "cannot be read"),
        (lambda s: (s.publish("x"), s.files.update({s.deltas[-1].delta.name: b"{}\n"})), "other content"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_taken(site: Published, wrong: object, why: str) -> None:
    reader = ReportReader(AT, site.get)
    reader.read(NOW)
    before = reader.state
    wrong(site)  # type: ignore[operator]
    with pytest.raises(BadReport, match=why):
        reader.read(NOW + 20)
    assert reader.state == before


def _elsewhere(site: Published) -> None:
    site.manifest = replace(site.manifest, site="http://other.org/")
    site.deltas.clear()
    site.publish("x", site="http://other.org/")


def test_another_key_is_taken_when_the_old_announcer_is_long_dead(site: Published) -> None:
    reader = ReportReader(AT, site.get)
    reader.read(NOW)
    later = NOW + 2 * 86_400
    site.publish("x", secret=OTHER, generated=later, until=later + 600)
    assert names(reader.read(later + 1)) == ["x"]


def test_an_endless_report_is_refused(site: Published, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "MOST_PAGES", 3)
    reader = ReportReader(AT, site.get)
    reader.read(NOW)
    site.publish("1", "2", "3", "4")
    with pytest.raises(BadReport, match="names more than 3 pages"):
        reader.read(NOW + 1)


def test_the_users_own_key_lets_a_report_speak_for_another_origin(site: Published) -> None:
    _elsewhere(site)
    reader = ReportReader(AT, site.get)
    with pytest.raises(BadReport, match="speaks for"):
        reader.read(NOW)
    key = msgspec.json.decode(site.files["manifest.jsonl"].splitlines()[1])["key"]
    assert len((ReportReader(AT, site.get, key=key).read(NOW) or pytest.fail()).pages) == 1


def test_a_site_that_was_taken_over_once_gets_its_key_back(site: Published) -> None:
    """A report counts for a day, whatever it says, also one that an older version has noted."""
    site.publish("x", secret=OTHER, until=NOW + 1e9)
    reader = ReportReader(AT, site.get)
    reader.read(NOW)
    assert reader.state is not None and reader.state.until <= NOW + LONGEST_UNTIL
    noted = msgspec.structs.replace(reader.state, until=NOW + 1e9)
    site.publish("y", generated=NOW + 2.5 * LONGEST_UNTIL, until=NOW + 3 * LONGEST_UNTIL)
    with pytest.raises(BadReport):
        ReportReader(AT, site.get, before=noted).read(NOW + LONGEST_UNTIL)
    assert names(ReportReader(AT, site.get, before=noted).read(NOW + 2.5 * LONGEST_UNTIL)) == ["y"]
