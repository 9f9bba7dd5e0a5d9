import io
import struct
import zlib
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image, ImageDraw
from turbohtml import parse

from sanderling.change import AspectKind, compare, fingerprint, image
from sanderling.change.pixels import MAX_BYTES, Decoder
from tests.waiting import PATIENCE


@pytest.fixture(scope="module")
def decoder() -> Iterator[Decoder]:
    with Decoder(seconds=PATIENCE) as child:
        yield child


def drawing(shape: str, size: int = 200, kind: str = "PNG") -> bytes:
    picture = Image.new("RGB", (size, size), "white")
    pen = ImageDraw.Draw(picture)
    box = [size // 8, size // 6, size // 2, size * 3 // 4]
    pen.ellipse(box, fill="navy") if shape == "circle" else pen.rectangle([*box[:2], size, size // 3], fill="red")
    pen.line([0, size, size, size // 3], fill="black", width=size // 20)
    out = io.BytesIO()
    picture.save(out, kind)
    return out.getvalue()


def test_the_same_picture_in_another_size_and_format_looks_the_same(decoder: Decoder) -> None:
    codes = [
        image.look(grey)
        for body in (drawing("circle"), drawing("circle", 333, "JPEG"), drawing("box"))
        if (grey := decoder.decode(body)) is not None
    ]
    assert len(codes) == 3
    same = image.distance(codes[0].frequency, codes[1].frequency)
    other = image.distance(codes[0].frequency, codes[2].frequency)
    assert same <= 9 < other
    assert image.distance(codes[0].difference, codes[1].difference) <= 9


def test_ival_of_sixteen_columns_is_the_fold_of_its_rows() -> None:
    grey = np.zeros((16, 16), np.uint8)
    grey[0, 15] = grey[1, 14] = 255
    assert image.ival(grey, 4) == 0b11
    grey[2, 15] = 255
    assert image.ival(grey, 4) == 0b10


def test_ival_is_zero_for_pictures_whose_halves_are_alike() -> None:
    half = (np.random.default_rng(1).integers(0, 2, (32, 16)) * 255).astype(np.uint8)
    assert image.ival(np.hstack([half, half]), 5) == 0


@pytest.mark.parametrize("exponent", [4, 5, 6])
def test_ival_is_stable(exponent: int) -> None:
    grey = np.random.default_rng(exponent).integers(0, 256, (64, 64)).astype(np.uint8)
    assert image.ival(grey, exponent) == image.ival(grey.copy(), exponent)


def test_determinants_are_exact() -> None:
    assert image.determinant([[0, 2], [3, 4]]) == -6
    assert image.determinant([[65535, 1, 2], [3, 65535, 4], [5, 6, 65535]]) == 65535**3 - 37 * 65535 + 56
    assert image.determinant([[1, 1], [1, 1]]) == image.determinant([[0, 1], [0, 1]]) == 0


def png(width: int, height: int) -> bytes:
    """An image file of a few bytes that has a picture of any size, as an attacker would make it."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(10_000)))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    "body", [b"", b"<html>", png(60_000, 60_000), drawing("circle")[:99], b"GIF89a" + bytes(99), bytes(MAX_BYTES + 1)]
)
def test_bombs_and_rubbish_are_refused(decoder: Decoder, body: bytes) -> None:
    assert decoder.decode(body) is None
    assert decoder.decode(drawing("box")) is not None


def test_a_child_without_time_or_memory_is_replaced() -> None:
    large = drawing("box", 3000)  # needs a tenth of a second and 27 MB on any machine
    with Decoder(seconds=0.001) as slow:
        assert slow.decode(large) is None
        assert slow.decode(large) is None
    with Decoder(memory=1 << 20) as small:
        assert small.decode(large) is None
        assert small.decode(large) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<img src=a>", "<img src=b>"),
        ("<svg><path d='M0 0'/></svg>", "<svg><path d='M1 1'/></svg>"),
        ("<video poster=a></video>", "<video poster=b></video>"),
        ("<object data=a></object>", "<object data=b></object>"),
        ("<img src='data:image/gif;base64,AA'>", "<img src='data:image/gif;base64,AB'>"),
        ("<picture><source srcset=a><img></picture>", "<picture><source srcset=b><img></picture>"),
    ],
)
def test_embedded_and_linked_pictures_are_seen(before: str, after: str) -> None:
    assert compare(fingerprint(parse(before)), fingerprint(parse(after))).kinds == (AspectKind.IMAGE,)
