"""From the bytes of an image to a small picture, in a child process with limits. Run as a module,
this is that child."""

from __future__ import annotations

import io
from typing import Final

import numpy as np

from sanderling.processes.sandboxed import ChildFailed, SandboxedChild, serve

from .image import SIDE, Colours

MAX_BYTES: Final = 20 << 20
MAX_PIXELS: Final = 40_000_000
MEMORY: Final = 512 << 20
SECONDS: Final = 5.0
_SIZE: Final = SIDE * SIDE * 3


class Decoder(SandboxedChild):
    """Decodes images one after the other."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        super().__init__("decode-image", memory, seconds)

    def decode(self, body: bytes) -> Colours | None:
        """The image as SIDE x SIDE colours; nothing where it is none, is too large, or is a
        bomb."""
        if not body or len(body) > MAX_BYTES:
            return None
        try:
            colours = self.ask(body)
        except ChildFailed:
            return None
        return np.frombuffer(colours, np.uint8).reshape(SIDE, SIDE, 3) if len(colours) == _SIZE else None


def small_picture(body: bytes) -> bytes:
    """Decode, in the child only. Transparent parts count as white, of an animation the first
    frame."""
    from PIL import Image  # only the child pays for the import

    with Image.open(io.BytesIO(body)) as picture:
        if picture.width * picture.height > MAX_PIXELS:
            return b""
        picture.draft("RGB", (SIDE, SIDE))
        flat = Image.new("RGBA", picture.size, "white")
        flat.alpha_composite(picture.convert("RGBA"))
        return flat.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX).tobytes()


if __name__ == "__main__":
    from PIL import Image

    Image.init()
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    serve(small_picture)
