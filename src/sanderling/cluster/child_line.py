"""The line between a machine and one of its client processes."""

import asyncio

import msgspec
from msgspec import Struct

from sanderling.cluster.messages import ArchivePiece, Below, Said
from sanderling.cluster.pieces import Packer
from sanderling.cluster.spool import Spool
from sanderling.model import Hello
from sanderling.model.frames import framed


class _Ends(Struct, tag="VisitReport"):
    """What a machine has to know of a report: the archives that it names."""

    warcs: dict[str, int]


_decode = msgspec.msgpack.Decoder(Hello | _Ends | Below).decode


class ChildLine:
    """Sends the archives that a report names before the report."""

    def __init__(self, writer: asyncio.StreamWriter, spool: Spool, compress: bool) -> None:
        self._writer = writer
        self._spool = spool
        self._packer = Packer(compress)
        self.client = ""
        self.heard_all = asyncio.Event()

    async def words(self, frame: bytes) -> list[ArchivePiece | Said]:
        """What the server gets for a message of the client."""
        try:
            message = _decode(frame)
        except msgspec.MsgspecError as error:
            raise ValueError(str(error)) from None
        if isinstance(message, Hello):
            self.client = message.client
        words: list[ArchivePiece | Said] = []
        if isinstance(message, _Ends) and message.warcs:
            words += await asyncio.to_thread(self._pieces, message.warcs)
        return [*words, Said(self.client, frame)]

    def send(self, frame: bytes) -> None:
        self._writer.write(framed(frame))

    def close(self) -> None:
        self._writer.close()
        self.heard_all.set()

    def _pieces(self, ends: dict[str, int]) -> list[ArchivePiece]:
        return list(self._spool.pieces(self.client, ends, self._packer))
