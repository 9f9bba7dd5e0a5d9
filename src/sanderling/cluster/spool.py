"""The archives of a machine's clients until they are sent: files in a temporary folder that nobody
else uses."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from xxhash import xxh3_128_digest

from sanderling.cluster.messages import ArchivePiece
from sanderling.cluster.pieces import LARGEST_PART, Packer
from sanderling.processes.scratch import Scratch


class Spool:
    """A folder with the archives, the markers and the socket of the clients of one machine."""

    def __init__(self, files: dict[str, bytes]) -> None:
        """`files` are put where clients look for what the settings name."""
        self._scratch = Scratch("spool")
        self.folder = self._scratch.path
        self.warcs = self.folder / "warc"
        self._new = self.warcs / self.folder.name  # where clients make new archives; they stay there
        self._new.mkdir(parents=True)
        for name, content in files.items():
            (self.folder / Path(name).name).write_bytes(content)
        self._sent: dict[str, int] = {}

    @property
    def socket(self) -> Path:
        return self.folder / "socket"

    def pieces(self, client: str, ends: dict[str, int], packer: Packer) -> Iterator[ArchivePiece]:
        """What has to be sent before a report that says how far each archive is."""
        for name, end in ends.items():
            path = self._new / name
            with path.open("rb") as file:
                while (start := self._sent.get(name, 0)) < end:
                    content = os.pread(file.fileno(), min(end - start, LARGEST_PART), start)
                    if not content:
                        raise EOFError(f"{name} ends before byte {end}")
                    self._sent[name] = start + len(content)
                    packed = packer.pack(content)
                    yield ArchivePiece(
                        client, name, start, len(content), xxh3_128_digest(content), packed.content, packed.zstd
                    )
        self._forget_older(client, ends)

    def forget(self, client: str) -> None:
        """Removes what is left of a client that is dead."""
        for path in self._new.glob(f"{client}-*"):
            path.unlink(missing_ok=True)
            self._sent.pop(path.name, None)
        charge_path(self.folder, client).unlink(missing_ok=True)
        shutil.rmtree(outbox_path(self.folder, client), ignore_errors=True)

    def close(self) -> None:
        self._scratch.close()

    def _forget_older(self, client: str, ends: dict[str, int]) -> None:
        """An archive that is sent whole and followed by another one is not needed here any more."""
        newest = max(ends, default="")
        for path in self._new.glob(f"{client}-*"):
            if path.name < newest and path.stat().st_size == self._sent.get(path.name):
                path.unlink()


def outbox_path(folder: Path, relay: str) -> Path:
    """Where a relay keeps reports that it has not sent; `folder` is that of the spool."""
    return folder / f"outbox-{relay}"


def charge_path(folder: Path, relay: str) -> Path:
    """Where a relay finds what it is given."""
    return folder / f"charge-{relay}"
