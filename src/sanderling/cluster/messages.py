"""Messages between the server and the machines on which its clients run.

They carry the frames of `model/messages.py` as they are. A batch is one call of the engine.
"""

import msgspec
from msgspec import Struct

from sanderling.model import MachineState
from sanderling.model.messages import ClientName

# Increase it whenever a message changes its meaning. A server sends no work to a machine with
# another number.
CLUSTER_PROTOCOL = 2


class MachineTerms(Struct, frozen=True):
    """What a machine is told when it begins."""

    fence: float  # seconds without a sign of the server after which its clients are ended
    compress: bool = False  # send archives as zstd
    files: dict[str, bytes] = {}  # files that the settings name, for the folder of its clients
    linger: float = 0.0  # seconds after the death of a relay in which the machines below it may go on
    head: str = ""  # of the cluster, for a relay


class Charge(Struct, frozen=True):
    """What a relay is given: a number of clients, on these machines besides its own."""

    node: str  # the id of its own machine
    level: int  # its own; the machines of the server have level 1
    clients: int
    nodes: list[str]  # their ids


class Start(Struct, frozen=True, tag=True):
    """Server to machine: start a client, or a relay if there is a charge."""

    client: ClientName
    charge: Charge | None = None


class Entrust(Struct, frozen=True, tag=True):
    """Server to machine: a relay has another charge from now on."""

    client: ClientName
    charge: Charge


class Deliver(Struct, frozen=True, tag=True):
    """Server to machine: pass a message on to a client."""

    client: ClientName
    frame: bytes


class End(Struct, frozen=True, tag=True):
    """Server to machine: end a client at once."""

    client: ClientName


Order = Start | Entrust | Deliver | End


class Greeting(Struct, frozen=True, tag=True):
    """Machine to server, first: what runs there."""

    protocol: int
    sanderling: str
    python: str
    spool: str  # the folder where it keeps what is not sent yet


class ArchivePiece(Struct, frozen=True, tag=True):
    """Machine to server: a part of an archive of a client. The report that names it follows."""

    client: ClientName
    warc: str
    offset: int
    size: int  # of the part as it lies in the archive
    digest: bytes  # xxh3_128 of the same
    packed: bytes
    zstd: bool = False


class Said(Struct, frozen=True, tag=True):
    """Machine to server: a message of a client."""

    client: ClientName
    frame: bytes


class Below(Struct, frozen=True, tag=True):
    """Relay to its parent, as a message of a client: the machines below it."""

    client: ClientName
    machines: list[MachineState]


class Ended(Struct, frozen=True, tag=True):
    """Machine to server: a client is dead, and nothing more will come from it."""

    client: ClientName
    code: int
    marked: int = 0  # the page that it was parsing


Word = Greeting | ArchivePiece | Said | Ended


class MachineReply(Struct, frozen=True, array_like=True):
    """What a machine says at once. The server takes each number once, in order."""

    number: int
    words: list[Word]


class Tell(Struct, frozen=True, tag=0, array_like=True):
    """Server to machine on a direct line: a numbered batch of orders."""

    number: int
    batch: bytes


class Hear(Struct, frozen=True, tag=1, array_like=True):
    """Server to machine on a direct line: what is new since the reply of that number?"""

    seen: int


class Heard(Struct, frozen=True, array_like=True):
    """Machine to server on a direct line: the answer."""

    told: int  # the batch of orders that it took last
    reply: bytes


encode = msgspec.msgpack.Encoder().encode
decode_orders = msgspec.msgpack.Decoder(list[Order]).decode
decode_reply = msgspec.msgpack.Decoder(MachineReply).decode
decode_asked = msgspec.msgpack.Decoder(Tell | Hear).decode
decode_heard = msgspec.msgpack.Decoder(Heard).decode
