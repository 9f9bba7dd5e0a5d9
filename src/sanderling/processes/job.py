"""A process that is sent out for one result, while the server goes on."""

import subprocess
from pathlib import Path


class Job:
    """A command that leaves its result in a file, complete or not at all; begun as often as one is wanted."""

    def __init__(self, command: list[str], result: Path) -> None:
        """`command` is completed with the path of the result."""
        self._command = [*command, str(result)]
        self._job: subprocess.Popen[bytes] | None = None
        self.result = result
        self.complaint = ""  # why the last one brought nothing

    @property
    def out(self) -> bool:
        """Whether it has been begun, and not been heard of since."""
        return self._job is not None

    def begin(self) -> None:
        self.result.unlink(missing_ok=True)
        self._job = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )

    def back(self) -> bool:
        """Whether it has just come back: then `complaint` says what went wrong, or the result is there."""
        if self._job is None or self._job.poll() is None:
            return False
        _, errors = self._job.communicate()
        code, self._job = self._job.returncode, None
        said = errors.decode(errors="replace").strip().rpartition("\n")[2]
        silent = (
            f"code {code}" if code > 0 else f"it was ended by signal {-code}, as the system does when memory is short"
        )
        self.complaint = (said or silent) if code else ""
        return True

    def close(self) -> None:
        """Ends one that is out; its result is worth nothing to anybody else."""
        if self._job is not None:
            self._job.kill()
            self._job.communicate()
            self._job = None
