"""Screenshots of rendered pages: in the archive, behind their versions, and in nobody's way."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from warcio.archiveiterator import ArchiveIterator

from sanderling.browser.screenshots import TALLEST, WIDEST
from sanderling.model import Stored
from sanderling.repository.screenshots import has_screenshot, screenshot_of
from tests.conftest import FAST, Run, listed
from tests.rendering.app import page
from tests.rendering.rendering import browser
from tests.servers import PageServer

ALWAYS = (*FAST, "--render", "always", "--clients", "1")
RED, BLUE = (255, 0, 0), (0, 0, 255)


def coloured(colour: str, height: int) -> bytes:
    """A page that is red or blue only when its script ran."""
    made = f"document.body.innerHTML += '<p>{colour}</p><a href=\"/tall\">tall</a>'; document.body.style.background = '{colour}'"
    return page(made, f"<div style='height: {height}px'></div>")


@pytest.fixture
def site() -> Iterator[PageServer]:
    browser()
    with PageServer({"/": coloured("red", 300), "/tall": coloured("blue", 50_000)}) as server:
        yield server


def test_a_version_has_its_screenshot_in_the_archive(sanderling: Run, site: PageServer, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    ran = sanderling("crawl", site.origin + "/", "-d", folder, *ALWAYS, "--screenshots")
    assert ran.code == 0, ran.err
    site.table["/"] = coloured("blue", 300)
    assert "1 changed" in sanderling("crawl", "-d", folder, "--again").out

    pictures, made = [], {}
    for path in sorted((folder / "warc").glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                if record.rec_type != "conversion":
                    continue
                fields, content = record.rec_headers, record.content_stream().read()
                if fields.get_header("Content-Type") == "image/webp":
                    pictures.append((made[fields.get_header("WARC-Refers-To")], Image.open(io.BytesIO(content))))
                else:
                    made[fields.get_header("WARC-Record-ID")] = fields.get_header("WARC-Target-URI")
    # The page that did not change got none at its second visit.
    assert sorted(url.removeprefix(site.origin) for url, _ in pictures) == ["/", "/", "/tall"]
    assert all(picture.format == "WEBP" and picture.width <= WIDEST for _, picture in pictures)
    tall = next(picture for url, picture in pictures if url.endswith("/tall"))
    assert tall.height == TALLEST and is_near(tall, BLUE)
    first, second = (picture for url, picture in pictures if url.endswith("/"))
    assert is_near(first, RED) and is_near(second, BLUE)

    before = listed(sanderling, folder)
    place = before["/"]
    stored = Stored(place["warc"], place["offset"], place["length"])
    assert has_screenshot(folder / "warc", stored)
    assert is_near(Image.open(io.BytesIO(screenshot_of(folder / "warc", stored))), BLUE)

    assert sanderling("check", folder, "--deep").code == 0
    index = sanderling("export", folder, "--format", "cdxj", "-o", "-").out
    assert "image/webp" not in index and index.count('/tall"') == 2
    for name in ("sanderling.db", "sanderling.db-wal", "sanderling.db-shm"):
        (folder / name).unlink(missing_ok=True)
    assert sanderling("recover", folder).code == 0
    facts = ("url", "title", "digest", "visits", "changes", "warc", "offset", "length")
    assert {path: [row[fact] for fact in facts] for path, row in listed(sanderling, folder).items()} == {
        path: [row[fact] for fact in facts] for path, row in before.items()
    }
    assert sanderling("check", folder, "--deep").code == 0


def test_without_the_setting_there_is_none(sanderling: Run, site: PageServer, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    assert sanderling("crawl", site.origin + "/", "-d", folder, *ALWAYS, "--max-depth", 0).code == 0
    place = listed(sanderling, folder)["/"]
    stored = Stored(place["warc"], place["offset"], place["length"])
    assert not has_screenshot(folder / "warc", stored) and not screenshot_of(folder / "warc", stored)


def test_screenshots_without_rendering_are_a_mistake(sanderling: Run, tmp_path: Path) -> None:
    ran = sanderling("crawl", "http://127.0.0.1:1/", "-d", tmp_path / "crawl", "--render", "never", "--screenshots")
    assert ran.code == 2 and "rendered pages only" in ran.err


def is_near(picture: Image.Image, colour: tuple[int, int, int]) -> bool:
    """Whether most of a picture has about this colour: WebP is lossy."""
    found = picture.convert("RGB").resize((1, 1)).getpixel((0, 0))
    assert isinstance(found, tuple)
    return all(abs(is_ - wanted) < 40 for is_, wanted in zip(found, colour, strict=True))
