"""Pages whose first kilobytes are not on the topic are not loaded whole: what is kept, and what
later visits find."""

import gzip
import shutil
from pathlib import Path

import pytest

from sanderling.client.cutting import FIRST, beginning, completes, looks
from sanderling.repository.exchanges import exchanges
from sanderling.testing.prose import sentences
from tests.conftest import FAST, Run, listed
from tests.servers import Answer, PageServer, links

WORD = "photovoltaics"
TEXT = "".join(f"<p>{sentence}</p>\n" for sentence in sentences(3)[:3000])
LONG = TEXT[: 200 * 1024]
CUT = ("--topic", WORD, "--cut-short", "--no-sitemaps", "--clients", 1)


def long(head: str, *targets: str, end: tuple[str, ...] = ()) -> bytes:
    return f"<title>{head}</title>{head}".encode() + links(*targets) + LONG.encode() + links(*end)


SITE = {
    "/": links("/off", "/on", "/short", "/script", "/packed") + f"<h1>{WORD}</h1>{WORD} {WORD}".encode(),
    "/off": long("cooking", "/near", end=("/behind",)),
    "/on": long(f"{WORD} {WORD} {WORD}", end=("/after",)),
    "/short": b"<title>short</title>" + TEXT[: FIRST - 1000].encode(),
    # No text in the first kilobytes: nothing is known yet.
    "/script": b"<script>" + b"let x = 1;" * 4000 + b"</script>" + f"<h1>{WORD} {WORD} {WORD}</h1>".encode() * 9,
    "/packed": Answer(gzip.compress(long("gardening")), headers=(("Content-Encoding", "gzip"),)),
    "/near": b"near",
    "/after": b"after",
    "/behind": b"behind",
}


def crawl(sanderling: Run, server: PageServer, folder: Path, *more: object) -> None:
    ran = sanderling("crawl", f"{server.origin}/", "-d", folder, *FAST, *CUT, *more)
    assert ran.code == 0, ran.err


def test_a_page_is_cut_short_when_its_beginning_is_not_on_the_topic(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    with PageServer(SITE) as server:
        crawl(sanderling, server, folder)
    found = listed(sanderling, folder)
    cut = {path for path, page in found.items() if page.get("truncated")}
    assert cut == {"/off", "/packed"}
    for path in cut:
        assert found[path]["reason_code"] == "cut-short"
        assert FIRST // 2 < found[path]["size"] <= FIRST
        assert found[path]["relevance"] < 0.125
    assert found["/on"]["relevance"] > 0.5
    assert found["/on"]["size"] == len(SITE["/on"])
    # Links that came are kept, those that did not are not known.
    assert {"/near", "/after"} <= set(found)
    assert "/behind" not in found
    stored = {each.url: each for path in (folder / "warc").glob("*.warc.gz") for each in exchanges(path)}
    archived = stored[f"{server.origin}/off"]
    assert archived.fields["warc-truncated"] == "length"
    assert archived.note("cutshort") == "off-topic"
    assert "warc-truncated" not in stored[f"{server.origin}/on"].fields
    assert sanderling("check", folder).code == 0

    # A database that is lost is made again from the archive, marks included.
    (folder / "sanderling.db").unlink()
    shutil.rmtree(folder / "index", ignore_errors=True)
    assert sanderling("recover", folder).code == 0
    again = listed(sanderling, folder)["/off"]
    assert again["truncated"]
    assert again["reason_code"] == "cut-short"


def test_a_page_that_was_cut_is_unchanged_until_its_beginning_changes(sanderling: Run, tmp_path: Path) -> None:
    """No validators: the page is asked for whole each time, and ends after the same bytes."""
    folder = tmp_path / "c"
    with PageServer(SITE) as server:
        pages = server.table
        crawl(sanderling, server, folder)
        pages["/off"] = SITE["/off"] + b"<p>The end is another one."  # type: ignore[operator]
        assert sanderling("crawl", "-d", folder, "--again").code == 0
        assert len(sanderling("history", folder, f"{server.origin}/off", "--json").lines) == 1
        pages["/off"] = long("baking", "/near", end=("/behind",))
        assert sanderling("crawl", "-d", folder, "--again").code == 0
        changed = sanderling("history", folder, f"{server.origin}/off", "--json").lines
        assert len(changed) == 2
        # It is whole now: the part that was never loaded must not be taken for a change at some
        # later visit.
        assert listed(sanderling, folder)["/off"]["size"] == len(pages["/off"])


def test_without_the_setting_the_rest_comes_and_is_no_news(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    with PageServer(SITE) as server:
        crawl(sanderling, server, folder)
        settings = folder / "sanderling.toml"
        settings.write_text(settings.read_text().replace("cut_short = true", "cut_short = false"))
        assert sanderling("crawl", "-d", folder, "--again").code == 0
        found = listed(sanderling, folder)
        assert found["/off"]["size"] == len(SITE["/off"])
        assert not found["/off"]["truncated"]
        assert "/behind" in found
        # Only the page behind the cut is news.
        news = [change["url"] for change in sanderling("changes", folder, "--json").lines]
        assert news == [f"{server.origin}/behind"]


@pytest.mark.parametrize("size", [FIRST - 1, FIRST, 5 * FIRST, 100 * FIRST])
def test_a_beginning_is_known_again_wherever_it_was_cut(size: int) -> None:
    from xxhash import xxh3_128_digest

    body = (b"<p>some words</p>" * (size // 17 + 1))[:size]
    assert [*looks(size)] == [FIRST << n for n in range(5) if FIRST << n <= size]
    for length in looks(size):
        kept = beginning(body, length)
        assert kept.endswith(b">")
        assert completes(body, xxh3_128_digest(kept))
    assert not completes(body, xxh3_128_digest(body[:100]))


def test_cutting_needs_a_topic(sanderling: Run, tmp_path: Path) -> None:
    ran = sanderling("crawl", "http://127.0.0.1:9/", "-d", tmp_path / "c", "--cut-short")
    assert ran.code == 2
    assert "--cut-short needs a topic" in ran.err
