"""Messages of sources that wait in the folder while no crawl runs there. Each is one file, taken up
by the next run.

Who leaves one only needs to write to the folder; the state is written by the crawl alone. A message
that is taken up twice, because the process was killed between commit and removal, changes nothing.
"""

import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sanderling.errors import RunFailed
from sanderling.files import write_whole
from sanderling.model import Told

FOLDER = "notices"
_ENDING = ".told"
# What may wait: sources that send more have to come again.
MOST_MESSAGES = 10_000
MOST_BYTES = 256 * 1024**2

_decode = msgspec.msgpack.Decoder(Told).decode


def leave(folder: Path, told: Told) -> None:
    """Keeps a message for the next run."""
    place = folder / FOLDER
    place.mkdir(exist_ok=True)
    waiting = list(place.glob("*" + _ENDING))
    if len(waiting) >= MOST_MESSAGES or sum(path.stat().st_size for path in waiting) > MOST_BYTES:
        raise RunFailed(f"too many messages wait in {folder}: start `sanderling refresh`")
    write_whole(place / f"{time.time_ns():020}-{secrets.token_hex(4)}{_ENDING}", msgspec.msgpack.encode(told))


def waiting(folder: Path) -> Iterator[tuple[Path, Told | None]]:
    """What was left, the oldest first; None for a file that is no message. Whoever has dealt with
    one removes it."""
    for path in sorted((folder / FOLDER).glob("*" + _ENDING)):
        try:
            yield path, _decode(path.read_bytes())
        except msgspec.MsgspecError:
            yield path, None
