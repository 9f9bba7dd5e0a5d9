"""The vectors of all passages, in three files that only grow and a note of how much of them counts.

`bits` has the signs of each vector, which are enough to find the nearest thousand of a million in a
few milliseconds. `codes` has the vectors themselves, a byte a number, to put these in order.
`owners` says which passage of which version they are. What a killed process wrote behind the note
is cut off by the next one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sanderling.errors import BadIndex, IndexInUse
from sanderling.files import write_whole
from sanderling.search.embedding import DIMENSIONS, NAME, Matrix

OWNER: Final = np.dtype([("number", "<i8"), ("page", "<i8"), ("text", "<u8"), ("ordinal", "<i8")])
_BITS: Final = DIMENSIONS // 64
_SIZES: Final = {"owners": OWNER.itemsize, "bits": 8 * _BITS, "codes": DIMENSIONS}
_FINEST: Final = 127
# Of the passages with the nearest signs, this many are compared exactly.
_COMPARED: Final = 1000
_FAR: Final = DIMENSIONS + 1


class VectorNote(msgspec.Struct, frozen=True):
    """How far the vectors are."""

    model: str = NAME
    passages: int = 0
    number: int = 0  # the last version with vectors
    seen: str = ""  # when and where that was, to know another crawl
    forgotten: int = 0  # the last removal of versions that it followed


class Near(NamedTuple):
    """A version with a passage that means something near to the query."""

    number: int
    ordinal: int
    score: float


def note_of(root: Path) -> VectorNote:
    """How far the vectors in a folder are. Those of another model count as none."""
    try:
        note = msgspec.json.decode((root / "note.json").read_bytes(), type=VectorNote)
    except (FileNotFoundError, msgspec.MsgspecError):
        return VectorNote()
    return note if note.model == NAME else VectorNote()


class Vectors:
    """The vectors as they are now. Raises BadIndex if files are missing."""

    def __init__(self, root: Path, note: VectorNote) -> None:
        self.note = note
        try:
            owners, bits, codes = (
                np.fromfile(root / "owners", OWNER, note.passages),
                np.fromfile(root / "bits", "<u8", note.passages * _BITS).reshape(-1, _BITS),
                np.memmap(root / "codes", np.int8, "r", shape=(note.passages, DIMENSIONS)),
            )
        except (OSError, ValueError) as error:
            raise BadIndex(f"the vectors in {root} cannot be read ({error}): delete this folder") from None
        if len(owners) != note.passages or len(bits) != note.passages:
            raise BadIndex(f"the vectors in {root} are incomplete: delete this folder, and they are made again")
        self._owners, self._bits, self._codes = owners, bits, codes
        self._newest = _newest(owners)

    def nearest(self, vector: Matrix, most: int, past: bool) -> list[Near]:
        """Versions by their nearest passage, the nearest first; without `past`, only the newest
        versions of pages."""
        apart = np.bitwise_count(self._bits ^ _signs(vector[None])[0]).sum(axis=1, dtype=np.int64)
        if not past:
            apart[~self._newest] = _FAR
        count = min(_COMPARED, len(apart))
        some = np.argpartition(apart, count - 1)[:count] if count < len(apart) else np.arange(count)
        some = some[apart[some] < _FAR]
        scores = self._codes[some].astype(np.float32) @ vector / _FINEST
        found = dict[int, Near]()
        for at in np.argsort(-scores):
            owner = self._owners[some[at]]
            found.setdefault(int(owner["number"]), Near(int(owner["number"]), int(owner["ordinal"]), float(scores[at])))
            if len(found) == most:
                break
        return list(found.values())


class VectorWriter:
    """Adds vectors. Only one process does so at a time; another gets IndexInUse."""

    def __init__(self, root: Path, note: VectorNote) -> None:
        self.note = note
        self._root = root
        self._files = {name: (root / name).open("ab") for name in _SIZES}
        for name, file in self._files.items():
            file.truncate(note.passages * _SIZES[name])

    def text_counts(self) -> dict[int, int]:
        """How many versions have each text as a passage."""
        texts = np.fromfile(self._root / "owners", OWNER, self.note.passages)["text"]
        return dict(zip(*(each.tolist() for each in np.unique(texts, return_counts=True)), strict=True))

    def share_without(self, versions: set[int]) -> float:
        """The share of the passages that are of no version among these."""
        numbers = np.fromfile(self._root / "owners", OWNER, self.note.passages)["number"]
        return 1 - float(np.isin(numbers, np.fromiter(versions, np.int64)).mean()) if len(numbers) else 0.0

    def begin_anew(self) -> None:
        self.note = VectorNote()
        write_whole(self._root / "note.json", msgspec.json.encode(self.note))
        for file in self._files.values():
            file.truncate(0)

    def add(self, owners: list[tuple[int, int, int, int]], vectors: Matrix) -> None:
        self._files["owners"].write(np.array(owners, OWNER).tobytes())
        self._files["bits"].write(_signs(vectors).tobytes())
        self._files["codes"].write(np.rint(vectors * _FINEST).astype(np.int8).tobytes())
        self.note = msgspec.structs.replace(self.note, passages=self.note.passages + len(owners))

    def commit(self, number: int, seen: str, forgotten: int) -> None:
        for file in self._files.values():
            file.flush()
            os.fsync(file.fileno())
        self.note = msgspec.structs.replace(self.note, number=number, seen=seen, forgotten=forgotten)
        write_whole(self._root / "note.json", msgspec.json.encode(self.note))

    def close(self) -> None:
        for file in self._files.values():
            file.close()


@contextlib.contextmanager
def writing(root: Path) -> Iterator[None]:
    root.mkdir(parents=True, exist_ok=True)
    with (root / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise IndexInUse(f"another process is writing to {root}") from None
        yield


def _signs(vectors: Matrix) -> NDArray[np.uint64]:
    return np.packbits(vectors > 0, axis=1).view("<u8")


def _newest(owners: NDArray[np.void]) -> NDArray[np.bool_]:
    """Which rows belong to the newest version of their page. Rows are in the order of versions."""
    pages, numbers = owners["page"], owners["number"]
    _, last = np.unique(pages[::-1], return_index=True)
    newest = numbers[::-1][last]
    return np.isin(numbers, newest)
