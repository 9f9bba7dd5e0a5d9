"""Two screenshots as one picture that shows where they differ."""

import io
from threading import Lock

from PIL import Image, ImageChops, ImageFilter

from sanderling.errors import Damaged

# Pictures are made so wide before they are compared: enough to see what changed, in a fraction of
# the time.
WIDTH = 640
# No screenshot that was taken has more pixels. Others are not opened, whatever they claim to be.
_TALLEST = 8192
_MOST_PIXELS = 1280 * _TALLEST
# Lossy pictures differ by less than this where the page does not. Of 255.
_NOISE = 32
_AROUND = 5
_CHANGED = (214, 40, 40)
_SECONDS = 10.0

# A comparison takes up to a hundred megabytes, so there is one at a time.
_one_at_a_time = Lock()


class Busy(Exception):
    """Other pictures are being compared."""


def visual_difference(older: bytes, newer: bytes) -> bytes:
    """The newer screenshot, pale, with what differs in red, as WebP."""
    if not _one_at_a_time.acquire(timeout=_SECONDS):
        raise Busy
    try:
        pictures = _opened(older), _opened(newer)
        size = WIDTH, max(picture.height for picture in pictures)
        before, after = (_on_white(picture, size) for picture in pictures)
        mask = ImageChops.difference(before, after).convert("L").point([0] * _NOISE + [255] * (256 - _NOISE))
        pale = Image.blend(after.convert("L").convert("RGB"), Image.new("RGB", size, "white"), 0.6)
        pale.paste(_CHANGED, mask=mask.filter(ImageFilter.MaxFilter(_AROUND)))
        made = io.BytesIO()
        pale.save(made, "WEBP", quality=70, method=1)
        return made.getvalue()
    finally:
        _one_at_a_time.release()


def _opened(data: bytes) -> Image.Image:
    """A screenshot in the width for comparing. Raises Damaged if it is none."""
    try:
        with Image.open(io.BytesIO(data), formats=["WEBP"]) as picture:
            if picture.width * picture.height > _MOST_PIXELS:
                raise Damaged("a screenshot in the archive is larger than any that is taken")
            height = min(max(1, round(picture.height * WIDTH / picture.width)), _TALLEST)
            return picture.convert("RGB").resize((WIDTH, height), Image.Resampling.BOX)
    except (OSError, ValueError, SyntaxError):
        raise Damaged("a screenshot in the archive cannot be read") from None


def _on_white(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    if picture.size == size:
        return picture
    paper = Image.new("RGB", size, "white")
    paper.paste(picture)
    return paper
