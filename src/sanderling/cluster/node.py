"""Makes this machine part of a cluster: runs a node of Ray in the foreground, closed to everybody
without the token."""

import contextlib
import functools
import hashlib
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from sanderling.cluster.credentials import Credentials, is_loopback, require_same_authority
from sanderling.cluster.engine import (
    LABEL,
    NO_STATISTICS,
    REGION,
    WEIGHT,
    answers,
    as_given,
    other_versions,
    refuses_token,
)
from sanderling.cluster.upkeep import HeadState, Upkeep, wait_for_head
from sanderling.errors import RunFailed, UsageError

_RAY = "ray"
DEFAULT_PORT = 6380  # Ray's own is also that of Redis
_STARTED = "Ray runtime started"
# Reports of a hundred pages, 60 KB and more, travel in
# the call itself: through the object store they cost five times as much.
_TUNED = {
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_max_direct_call_object_size": "2000000",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # clients are what machines are for
    **NO_STATISTICS,
}
# Ray notices a node that is cut off after about 10 s instead of a minute. When such a node can be
# reached again, Ray ends it, so machines that shall survive an outage need a longer one.
OUTAGE = 10.0
# Ray gives itself half a minute to start, which is too little on a busy machine.
_TOO_SLOW = ("timed out during startup", "may not have started successfully")
_CHECK = 3.0  # seconds for a check of a node that does not answer
# Sanderling keeps nothing in the object store.
_OBJECT_STORE = 100 << 20


class StartedTooSlowly(RunFailed):
    """Ray did not wait long enough for its own processes; it may be tried again."""


def run(
    credentials: Credentials, *, head: bool, address: str, own: str, name: str, weight: int | None, region: str,
    on_started: Callable[[], str], autoscaling: str = "", outage: float = OUTAGE,
) -> int:  # fmt: skip
    """Runs until it is ended by a signal. `address` is that of the head, `own` is where others
    reach this machine.

    `on_started` returns what the user is told when the node runs. `autoscaling` is a cluster file
    of `ray up`. A node that cannot be reached for longer than `outage` seconds is no longer part of
    the cluster.
    """
    loopback = is_loopback(own)
    if loopback != is_loopback(address):
        raise UsageError(f"{own} cannot be reached from {address}: name this machine's address with --own")
    if head and answers(address):
        raise RunFailed(f"{address} is in use, perhaps by another cluster: name another port with --port")
    credentials.make_own(own)
    if not head:
        require_same_authority(credentials, address)
    place = own_place()
    state = HeadState(place / _state_name(credentials, address), wait_for_head(outage)) if head else None
    os.environ.update(_TUNED | _patience(outage) | credentials.environment(own) | (state.environment if state else {}))
    try:
        import click
        import ray._private.node as nodes
        import ray._private.services as services
        from ray.scripts.scripts import start
    except ImportError as error:
        raise UsageError(f"a cluster needs `pip install 'sanderling[cluster]'` ({error})") from None
    if loopback:  # Ray replaces loopback addresses by ones that others can reach
        services.resolve_ip_for_localhost = as_given
    if head:  # nodes on this machine may wait for it; Ray takes them for a head
        services.find_gcs_addresses = functools.cache(frozenset)
    with contextlib.closing(_Output(on_started)) as output:
        upkeep = Upkeep(address, state, output.say)
        nodes.Node.dead_processes = lambda node: upkeep.look(node)
        try:
            labels = {LABEL: name, WEIGHT: "" if weight is None else str(weight), REGION: region}
            start.main(args=_arguments(place / _RAY, head, address, own, labels, autoscaling), standalone_mode=False)
        except (KeyboardInterrupt, click.Abort):
            return 130
        except SystemExit:
            if not output.started:
                raise RunFailed(f"this machine could not become part of a cluster: {output.last()}") from None
            return 143
        except RunFailed:
            raise
        except Exception as error:  # whatever Ray raises
            if refuses_token(str(error) + output.whole()):
                raise RunFailed(
                    f"the cluster at {address} does not accept this machine's token: copy the folder of the token from its head"
                ) from None
            if differ := other_versions(str(error)):
                raise RunFailed(f"the cluster at {address} {differ}") from None
            said = str(error).strip().splitlines() or [output.last()]
            kind = StartedTooSlowly if any(each in str(error) for each in _TOO_SLOW) else RunFailed
            raise kind(f"this machine could not become part of a cluster: {said[0]}") from None
    return 0


def _patience(outage: float) -> dict[str, str]:
    """What Ray is told. Both ends have to know: the head counts failed checks, and a node waits for
    its head."""
    checks, wait = max(1, round(outage / _CHECK)), wait_for_head(outage)
    return {"RAY_health_check_failure_threshold": str(checks), "RAY_gcs_rpc_server_reconnect_timeout_s": f"{wait:.0f}"}


def _arguments(place: Path, head: bool, address: str, own: str, labels: dict[str, str], autoscaling: str) -> list[str]:
    host, _, port = address.rpartition(":")
    arguments = [
        "--block", f"--node-ip-address={own}", "--disable-usage-stats", "--include-log-monitor=false",
        f"--object-store-memory={_OBJECT_STORE}", "--min-worker-port=0", "--max-worker-port=0",
        f"--temp-dir={place}",
    ]  # fmt: skip
    if said := ",".join(f"{label}={value}" for label, value in labels.items() if value):
        arguments.append(f"--labels={said}")
    if head:
        arguments += ["--head", f"--port={port}", "--include-dashboard=false"]
        return [*arguments, f"--autoscaling-config={autoscaling}" if autoscaling else "--no-monitor"]
    return [*arguments, f"--address={host}:{port}"]


def own_place() -> Path:
    """For the state of a head, and for Ray's sockets and logs one level below: Ray opens its folder
    to everybody. The path must be short, and nobody else may have made it."""
    place = Path(tempfile.gettempdir()) / f"sanderling-cluster-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise UsageError(
            f"{place} is not a folder that only you can use: remove it, or name another place with the variable TMPDIR"
        )
    return place


def _state_name(credentials: Credentials, address: str) -> str:
    """Of the state of one cluster: with another token, it is another one."""
    return f"head-{address.rpartition(':')[2]}-{hashlib.sha256(credentials.token.read_bytes()).hexdigest()[:12]}"


class _Output:
    """Reads what Ray writes, and keeps it from the user: it advises commands that open the cluster
    to everybody."""

    def __init__(self, on_started: Callable[[], str]) -> None:
        self._on_started = on_started
        self._lines: list[str] = []
        self.started = False
        sys.stdout.flush()
        sys.stderr.flush()
        self._kept = os.dup(1), os.dup(2)
        out, into = os.pipe()
        os.dup2(into, 1)
        os.dup2(into, 2)
        os.close(into)
        self._thread = threading.Thread(target=self._read, args=(out,), daemon=True)
        self._thread.start()

    def whole(self) -> str:
        return "\n".join(self._lines)

    def say(self, text: str) -> None:
        """Tells the user something."""
        os.write(self._kept[1], f"sanderling: {text}".encode())

    def last(self) -> str:
        return next((line for line in reversed(self._lines) if line), "it did not say why")

    def close(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, kept in enumerate(self._kept, 1):
            os.dup2(kept, number)

    def _read(self, pipe: int) -> None:
        with os.fdopen(pipe, errors="replace") as lines:
            for line in lines:
                self._lines = [*self._lines[-20:], line.strip()]
                if _STARTED in line and not self.started:
                    self.started = True
                    os.write(self._kept[0], self._on_started().encode())
