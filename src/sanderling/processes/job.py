"""A process that is sent out for one result, while the server goes on."""

from pathlib import Path

from sanderling.processes.child import Child


class Job:
    """A command that leaves its result in a file, complete or not at all; begun as often as one is
    wanted."""

    def __init__(self, command: list[str], result: Path) -> None:
        """`command` is completed with the path of the result."""
        self._command = [*command, str(result)]
        self._child: Child | None = None
        self.result = result
        self.complaint = ""  # why the last one brought nothing

    @property
    def out(self) -> bool:
        """Whether it has been begun, and not been heard of since."""
        return self._child is not None

    def begin(self) -> None:
        self.result.unlink(missing_ok=True)
        self._child = Child(self._command)

    def back(self) -> bool:
        """Whether it has just come back: then `complaint` says what went wrong, or the result is
        there."""
        if self._child is None or (code := self._child.code) is None:
            return False
        silent = (
            f"code {code}" if code > 0 else f"it was ended by signal {-code}, as the system does when memory is short"
        )
        self.complaint = (self._child.complaint() or silent) if code else ""
        self.close()
        return True

    def close(self) -> None:
        """Ends one that is out; its result is worth nothing to anybody else."""
        if self._child is not None:
            self._child.close()
            self._child = None
