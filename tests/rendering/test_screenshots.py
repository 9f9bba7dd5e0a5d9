"""Screenshots of rendered pages: in the archive, behind their versions, and in nobody's way."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageDraw
from warcio.archiveiterator import ArchiveIterator

from sanderling.browser.screenshots import TALLEST, WIDEST, smaller
from sanderling.client.fetcher import Rendered
from sanderling.errors import Damaged
from sanderling.model import Stored
from sanderling.presenting.visual_difference import WIDTH, visual_difference
from sanderling.repository.screenshots import has_screenshot, screenshot_of
from sanderling.urls import identity
from tests.conftest import FAST, Run, listed
from tests.rendering.app import page
from tests.rendering.rendering import browser, renderer
from tests.servers import PageServer
from tests.web.served import running

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
    ran = sanderling("crawl", site.origin + "/", "-d", folder, *ALWAYS, "--screenshots", "--revisit-records")
    assert ran.code == 0, ran.err
    site.table["/"] = coloured("blue", 300)
    assert "1 changed" in sanderling("crawl", "-d", folder, "--again").out

    pictures, made = [], {}
    for path in sorted((folder / "warc").glob("*.warc.gz"), key=lambda path: path.name.split("-")[-2]):  # by date
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                if record.rec_type != "conversion":
                    continue
                fields, content = record.rec_headers, record.content_stream().read()
                url = fields.get_header("WARC-Target-URI")
                if fields.get_header("Content-Type") == "image/webp":
                    assert url.removeprefix("urn:fullPage:") == made[fields.get_header("WARC-Refers-To")]
                    pictures.append((url.removeprefix("urn:fullPage:"), Image.open(io.BytesIO(content))))
                else:
                    made[fields.get_header("WARC-Record-ID")] = url.removeprefix("urn:dom:")
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

    shown_in_the_dashboard(folder, place["url"])

    assert sanderling("check", folder, "--deep").code == 0
    index = sanderling("export", folder, "--format", "cdxj", "-o", "-").out
    assert index.count("image/webp") == 3 and index.count('/tall"') == 4  # the page twice, its DOM, its picture
    for name in ("sanderling.db", "sanderling.db-wal", "sanderling.db-shm"):
        (folder / name).unlink(missing_ok=True)
    assert sanderling("recover", folder).code == 0
    facts = ("url", "title", "digest", "visits", "changes", "warc", "offset", "length")
    assert {path: [row[fact] for fact in facts] for path, row in listed(sanderling, folder).items()} == {
        path: [row[fact] for fact in facts] for path, row in before.items()
    }
    assert sanderling("check", folder, "--deep").code == 0


def test_plain_pages_are_kept_without_loss() -> None:
    plain = Image.new("RGB", (WIDEST, 2000), "white")
    for line in range(0, 1990, 14):
        ImageDraw.Draw(plain).text((10, line), "The quick brown fox jumps over the lazy dog. " * 4, "black")
    photo = Image.merge("RGB", [Image.effect_noise((400, 400), 60)] * 3)
    lossy, png = encoded(plain, "WEBP"), encoded(plain, "PNG")
    made = smaller(lossy, png)
    assert len(made) < len(lossy) / 2
    with Image.open(io.BytesIO(made)) as shown:
        assert shown.format == "WEBP" and ImageChops.difference(shown.convert("RGB"), plain).getbbox() is None
    for other in (encoded(photo, "PNG"), b"no picture", png[:200]):
        assert smaller(encoded(photo, "WEBP"), other) == encoded(photo, "WEBP")


def encoded(picture: Image.Image, form: str) -> bytes:
    made = io.BytesIO()
    picture.save(made, form, quality=70)
    return made.getvalue()


def test_states_have_screenshots_of_their_own() -> None:
    buttons = "<button id=tab>Blue</button><button id=more>Show more</button><p id=panel>Red words</p>"
    script = """document.body.style.background = 'red';
        tab.onclick = () => { panel.textContent = 'Blue words'; document.body.style.background = 'blue' };
        more.onclick = () => { panel.insertAdjacentHTML('afterend', '<div style="height: 3000px">More words</div>'); more.remove() }"""
    with PageServer({"/": page(script, buttons)}) as server, renderer(states=5, screenshots=True) as renders:
        seen = renders.render(server.origin + "/").rendered
        assert seen is not None and b"More words" in seen.html
        grown = picture_of(seen)
        assert is_near(grown, RED) and grown.height > 3000  # as its DOM, the picture has what came
        url = next(url for url, _ in seen.found)
        for _ in range(2):  # as it was found, and reached again by its path
            state = renders.render(url).rendered
            assert state is not None and b"Blue words" in state.html and is_near(picture_of(state), BLUE)


def picture_of(rendered: Rendered) -> Image.Image:
    return Image.open(io.BytesIO(rendered.screenshot))


def test_without_the_setting_there_is_none(sanderling: Run, site: PageServer, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    assert sanderling("crawl", site.origin + "/", "-d", folder, *ALWAYS, "--max-depth", 0).code == 0
    place = listed(sanderling, folder)["/"]
    stored = Stored(place["warc"], place["offset"], place["length"])
    assert not has_screenshot(folder / "warc", stored) and not screenshot_of(folder / "warc", stored)


def test_screenshots_without_rendering_are_a_mistake(sanderling: Run, tmp_path: Path) -> None:
    ran = sanderling("crawl", "http://127.0.0.1:1/", "-d", tmp_path / "crawl", "--render", "never", "--screenshots")
    assert ran.code == 2 and "rendered pages only" in ran.err


def shown_in_the_dashboard(folder: Path, url: str) -> None:
    with running(folder) as served:
        at = f"/crawls/{folder.name}/pages/{identity(url) & (1 << 64) - 1:016x}"
        timeline = served.http.get(at).text
        newer, older = re.findall(r'<img src="([^"]+)"', timeline)
        for src, colour in ((older, RED), (newer, BLUE)):
            answer = served.http.get(src)
            assert answer.status_code == 200 and answer.headers["content-type"] == "image/webp"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["content-security-policy"].startswith("sandbox")
            assert is_near(Image.open(io.BytesIO(answer.content)), colour)
        pictures = re.findall(r'<img src="([^"]+)"', served.http.get(f"{at}/diff?a=1&b=2").text)
        assert pictures[:2] == [older, newer]
        differing = Image.open(io.BytesIO(served.http.get(pictures[2]).content))
        assert differing.width == WIDTH and is_near(differing, (214, 40, 40))
        same = served.http.get(f"{older}/difference/{older.rpartition('/')[2]}").content
        assert not is_near(Image.open(io.BytesIO(same)), (214, 40, 40))
        assert served.http.get(f"/crawls/{folder.name}/screenshots/99").status_code == 404


def test_what_is_no_screenshot_is_not_compared() -> None:
    huge, small = io.BytesIO(), io.BytesIO()
    Image.new("RGB", (9000, 9000)).save(huge, "WEBP", method=0, quality=1)
    Image.new("RGB", (10, 10)).save(small, "WEBP")
    for bad in (b"", b"RIFF no picture", huge.getvalue(), small.getvalue()[:30]):
        with pytest.raises(Damaged):
            visual_difference(small.getvalue(), bad)


def is_near(picture: Image.Image, colour: tuple[int, int, int]) -> bool:
    """Whether most of a picture has about this colour: WebP is lossy."""
    found = picture.convert("RGB").resize((1, 1)).getpixel((0, 0))
    assert isinstance(found, tuple)
    return all(abs(is_ - wanted) < 40 for is_, wanted in zip(found, colour, strict=True))
