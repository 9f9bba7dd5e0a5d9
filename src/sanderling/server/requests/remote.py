"""Speaks with a running crawl from outside, through the socket in its folder."""

import socket
from pathlib import Path

import msgspec

from sanderling.errors import RunFailed, UsageError
from sanderling.model import Ask, Command, Live, LiveAnswer, Told
from sanderling.model.frames import Incoming, framed
from sanderling.server.run_folder import LINK

PATIENCE = 5.0


class NotRunning(UsageError):
    """No crawl is running in this folder."""


def look(folder: Path, patience: float = PATIENCE) -> Live:
    """How the crawl in a folder is doing."""
    return _exchange(folder, Ask(), patience).live


def command(folder: Path, command: Command, patience: float = PATIENCE) -> Live:
    """Has the crawl in a folder do something; UsageError says why it did not."""
    answer = _exchange(folder, command, patience)
    if answer.problem:
        raise UsageError(answer.problem)
    return answer.live


def visit(folder: Path, urls: list[str], patience: float = PATIENCE) -> LiveAnswer:
    """Has the crawl in a folder visit URLs now; the answer says what becomes of each."""
    return _exchange(folder, Command("visit", urls=urls), patience)


def tell(folder: Path, told: Told, patience: float = PATIENCE) -> str:
    """Passes on what a source says to the crawl in a folder; returns why it is ignored,
    if it is."""
    return _exchange(folder, told, patience).problem


def _exchange(folder: Path, message: Ask | Command | Told, patience: float) -> LiveAnswer:
    try:
        # The link may have a longer path than the system allows for a socket; what it leads to has
        # not.
        place = str((folder / LINK).readlink())
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(patience)
            line.connect(place)
            line.sendall(framed(msgspec.msgpack.encode(message)))
            incoming = Incoming()
            while data := line.recv(1 << 16):
                for frame in incoming.feed(data):
                    return msgspec.msgpack.decode(frame, type=LiveAnswer)
    except TimeoutError:
        raise RunFailed(f"the crawl in {folder} did not answer within {patience:.0f} s") from None
    except (OSError, msgspec.MsgspecError):
        pass
    raise NotRunning(f"no crawl is running in {folder}")
