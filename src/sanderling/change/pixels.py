"""From the bytes of an image to a small picture, in a child process with limits.

Decoders are the part of a crawler that strangers attack best, and a picture of a few kilobytes may unpack to
gigabytes. So the bytes go through a pipe to a child that may use little memory and time, and may open no file for
writing; whatever happens to it, the crawl goes on and the image counts as not decodable.

Run as a module, this file is that child.
"""

from __future__ import annotations

import contextlib
import io
import resource
import select
import struct
import subprocess
import sys
from typing import BinaryIO, Final, Self, cast

import numpy as np

from sanderling.processes import entry_points

from .image import SIDE, Colours

MAX_BYTES: Final = 20 << 20
MAX_PIXELS: Final = 40_000_000
MEMORY: Final = 512 << 20
SECONDS: Final = 5.0
_LENGTH: Final = struct.Struct("<I")
_SIZE: Final = SIDE * SIDE * 3


class Decoder:
    """A child that decodes images one after the other, replaced when it dies or takes too long."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._seconds = seconds
        self._memory = memory
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def decode(self, body: bytes) -> Colours | None:
        """The image as SIDE x SIDE colours; nothing where it is none, is too large, or is a bomb."""
        if not body or len(body) > MAX_BYTES:
            return None
        child = self._child or self._start()
        request, reply = cast(BinaryIO, child.stdin), cast(BinaryIO, child.stdout)
        try:
            request.write(_LENGTH.pack(len(body)) + body)
            request.flush()
            ready, _, _ = select.select([reply], [], [], self._seconds)
            status = reply.read(1) if ready else b""
            colours = reply.read(_SIZE) if status == b"\x01" else b""
        except OSError:
            status = colours = b""
        if not status:
            self.close()
            return None
        return np.frombuffer(colours, np.uint8).reshape(SIDE, SIDE, 3) if len(colours) == _SIZE else None

    def close(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        child.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        self._child = subprocess.Popen(
            entry_points.command("decode-image", self._memory),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            close_fds=True,
        )
        return self._child


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """The child's loop: a length and an image in, a status and colours out."""
    while len(header := requests.read(_LENGTH.size)) == _LENGTH.size:
        colours = small_picture(requests.read(_LENGTH.unpack(header)[0]))
        replies.write(b"\x01" + colours if colours else b"\x00")
        replies.flush()


def small_picture(body: bytes) -> bytes | None:
    """Decode, in the child only. Transparent parts count as white, of an animation the first frame."""
    from PIL import Image  # only the child pays for the import

    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    try:
        with Image.open(io.BytesIO(body)) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                return None
            picture.draft("RGB", (SIDE, SIDE))
            flat = Image.new("RGBA", picture.size, "white")
            flat.alpha_composite(picture.convert("RGBA"))
            return flat.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX).tobytes()
    except MemoryError:
        return None
    except Exception:  # a decoder may raise anything at all for a broken file
        return None


def main(memory: int) -> None:
    from PIL import Image

    Image.init()
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main(int(sys.argv[1]))
