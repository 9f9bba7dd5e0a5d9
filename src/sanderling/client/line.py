"""How a client talks with its server."""

from typing import Protocol

from sanderling.model import Hello, Lease, Recall, VisitReport, Welcome


class ServerLine(Protocol):
    """A line to one server. `ConnectionError` says that the server is gone: nothing may be archived
    any more."""

    def introduce(self, hello: Hello) -> Welcome | None:
        """Says hello and waits to be welcomed; None when the server does not want us."""

    def fileno(self) -> int:
        """A descriptor that is readable when there is something to hear."""

    def hear(self) -> list[Lease | Recall] | None:
        """What has arrived; None when the server says that it is time to leave."""

    def tell(self, report: VisitReport) -> None: ...

    def close(self) -> None: ...
