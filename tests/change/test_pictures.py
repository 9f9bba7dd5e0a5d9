"""Images in a crawl: their looks decide whether another file is another picture."""

import io
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from sanderling.change import image
from sanderling.change.pixels import Decoder
from tests.conftest import FAST, Run
from tests.servers import Answer, PageServer
from tests.waiting import PATIENCE


def picture(shape: str = "circle", colour: str = "navy", kind: str = "PNG") -> bytes:
    drawn = Image.new("RGB", (200, 200), "white")
    pen = ImageDraw.Draw(drawn)
    box = (20, 30, 120, 150)
    {"circle": pen.ellipse, "box": pen.rectangle}.get(shape, lambda *_, **__: None)(box, fill=colour)
    if shape == "plain":
        drawn.paste(colour, (0, 0, 200, 200))
    out = io.BytesIO()
    drawn.save(out, kind)
    return out.getvalue()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (picture(), picture(kind="JPEG"), True),
        (picture("plain", "red"), picture("plain", "red", "JPEG"), True),
        (picture("plain", "red"), picture("plain", "blue"), False),
        (picture("circle", "red"), picture("circle", "lime"), False),
        (picture("circle"), picture("box"), False),
    ],
)
def test_what_people_call_the_same_picture(one: bytes, other: bytes, same: bool) -> None:
    with Decoder(seconds=PATIENCE) as decoder:
        colours = [decoder.decode(each) for each in (one, other)]
    assert colours[0] is not None and colours[1] is not None
    assert (image.unlikeness(image.look(colours[0]), image.look(colours[1])) == 0) is same


def test_pictures_are_fetched_compared_and_told(sanderling: Run, tmp_path: Path) -> None:
    files = {
        "/saved.png": [picture("circle"), picture("circle", kind="JPEG")],
        "/redrawn.png": [picture("circle"), picture("box", "red")],
        "/broken.png": [picture("circle"), picture("circle")[:100]],
        "/as-it-was.png": [picture("box"), picture("box")],
    }
    now = 0
    table = {path: lambda _, versions=versions: Answer(versions[now], "image/png") for path, versions in files.items()}
    shown = "".join(f"<img src={path}>" for path in files)
    with PageServer(table | {"/": f"<p>pictures</p>{shown}<img src='data:image/gif;base64,AA'>".encode()}) as server:
        folder = tmp_path / "crawl"
        assert sanderling("crawl", f"{server.origin}/", "-d", folder, "--images", *FAST, "--json").json["pages"] == 5
        now = 1
        sanderling("crawl", "-d", folder, "--again")
        rows = sanderling("changes", folder, "--kind", "image", "--all", "--json").lines
        told = {row["url"].removeprefix(server.origin): row for row in rows}
        assert told.keys() == {"/saved.png", "/redrawn.png", "/broken.png", "/"}
        assert told["/saved.png"]["summary"] == "the same picture, saved again"
        assert told["/saved.png"]["significance"] < 0.05 < told["/redrawn.png"]["significance"]
        assert told["/broken.png"]["summary"] == "the file is another one"


def test_pictures_are_left_alone_unless_asked_for(sanderling: Run, tmp_path: Path) -> None:
    with PageServer({"/": b"<img src=a.png>", "/a.png": Answer(picture(), "image/png")}) as server:
        sanderling("crawl", f"{server.origin}/", "-d", tmp_path / "crawl", *FAST)
        assert "/a.png" not in server.requests
