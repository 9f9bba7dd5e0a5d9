"""Ray, as far as Sanderling needs it: connects, lists the machines, and starts an actor on one.
Nothing else imports it.

Calls carry bytes and numbers only. Who is a member of a Ray cluster may run code on all of it, so a
cluster has to be closed to others: `sanderling cluster` sets it up that way.
"""

import contextlib
import logging
import os
import select
import socket
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

from sanderling.cluster.credentials import CONNECT, Credentials, is_loopback, require_same_authority, speaks_tls
from sanderling.errors import RunFailed, UsageError

# Seconds between two looks at which machines there are.
LOOK_EVERY = 1.0
# How long machines and crawls wait for a head that does not answer. They need it only when
# a machine joins or leaves.
HEAD_WAIT = 300.0
NAMESPACE = "sanderling"
# A label or else the address names a machine; `sanderling cluster join --name` sets the label.
LABEL = "sanderling-machine"
WEIGHT = "sanderling-weight"  # how many clients a machine takes, if not one a core
REGION = "sanderling-region"  # where a machine is
CLOUD_REGION, CLOUD_ZONE = "ray.io/availability-region", "ray.io/availability-zone"  # Ray sets these in a cloud
# What Ray counts about its own calls is not used.
NO_STATISTICS = {
    "RAY_event_stats": "0",
    "RAY_task_events_report_interval_ms": "0",
    "RAY_enable_metrics_collection": "0",
}
# Ray would end this process if the head is away for a minute, and write pages to standard error.
_QUIET = NO_STATISTICS | {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_gcs_rpc_server_reconnect_timeout_s": f"{2 * HEAD_WAIT:.0f}",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}


class Gone(NamedTuple):
    """An actor that cannot be called any more."""

    certain: bool  # its process is known to be dead; otherwise it may be only out of reach
    why: str


class ClusterNode(NamedTuple):
    """A machine that is part of the cluster."""

    id: str
    name: str
    weight: float
    here: bool  # the server runs on it
    region: str = ""  # from the largest part to the smallest, with dots between them
    address: str = ""  # at which other machines reach it


OnReply = Callable[[bytes | Gone], None]


class Actor:
    """A `Machine` that runs elsewhere."""

    def __init__(self, handle: Any, address: str) -> None:
        self._handle = handle
        self._address = address  # at which others reach its machine

    def tell(self, number: int, batch: bytes) -> None:
        self._handle.tell.remote(number, batch)

    def hear(self, seen: int, on_reply: OnReply) -> None:
        """`on_reply` is called by a thread of the engine."""
        _when_done(self._handle.hear.remote(seen), on_reply)

    def open_door(self, identity: bytes, on_place: Callable[[tuple[str, int] | Gone], None]) -> None:
        """Has the machine open a port for a direct line; `on_place` is told where."""

        def done(port: int | Gone) -> None:
            on_place(port if isinstance(port, Gone) else (self._address, port))

        _when_done(self._handle.open_door.remote(self._address, identity), done)

    def kill(self) -> None:
        import ray

        with contextlib.suppress(Exception):  # the engine may be gone itself
            ray.kill(self._handle, no_restart=True)


def _when_done(call: Any, then: Callable[[Any], None]) -> None:
    def done(future: Any) -> None:
        error = future.exception()
        then(future.result() if error is None else _gone(error))

    call.future().add_done_callback(done)


class Engine:
    """The connection of this process to a cluster."""

    def __init__(self, address: str, own: str = "") -> None:
        """`own` is the id of this machine; without it, Ray finds it, which it cannot if there are
        several on one address."""
        self._started = _connect(address)
        self._own = own
        self._nodes = _nodes(own)
        self._answered = time.monotonic()
        self._node_ended = _end_of_own_node()
        self._closed = threading.Event()
        threading.Thread(target=self._watch, name="cluster-nodes", daemon=True).start()

    @property
    def head(self) -> str:
        """The address of the cluster's head, for other processes on machines of the cluster."""
        import ray

        return str(ray.get_runtime_context().gcs_address)

    @property
    def nodes(self) -> list[ClusterNode]:
        """The machines that are there, as of a second ago."""
        return self._nodes

    @property
    def silence(self) -> float:
        """Seconds since the head answered last."""
        return time.monotonic() - self._answered

    @property
    def cut_off(self) -> bool:
        """Whether the node of this machine ended. Then Ray cannot be used any more in this
        process."""
        return self._node_ended is not None and bool(select.select([self._node_ended], [], [], 0)[0])

    def start(self, node: ClusterNode, terms: bytes) -> Actor:
        """Starts an actor on a machine. It ends with this process."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        from sanderling.cluster.machine import Machine

        where = NodeAffinitySchedulingStrategy(node.id, soft=False)
        actor: Any = ray.remote(Machine)
        return Actor(
            actor.options(
                num_cpus=0, scheduling_strategy=where, max_restarts=0, max_task_retries=-1, max_concurrency=1000
            ).remote(terms),
            node.address,
        )

    def close(self) -> None:
        self._closed.set()
        if self._started and not self.cut_off:
            import ray

            ray.shutdown()
        if self._node_ended is not None:
            os.close(self._node_ended)
            self._node_ended = None

    def _watch(self) -> None:
        while not self._closed.wait(LOOK_EVERY):
            with contextlib.suppress(Exception):  # the head of the cluster may be away for a while
                self._nodes = _nodes(self._own)
                self._answered = time.monotonic()


def _connect(address: str) -> bool:
    """Connects; False when this process was connected before."""
    if address.startswith("ray://"):
        raise UsageError(
            f"cluster = {address!r} is a Ray client address; name the head as HOST:PORT and run this on a machine of the "
            "cluster"
        )
    credentials = Credentials()
    if address == "auto" and credentials.address:
        address = credentials.address
    if address != "auto":
        require_answer(address)
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    # Somebody who runs a cluster of Ray in another way may have set it.
    if "RAY_AUTH_MODE" not in os.environ and address != "auto":
        require_same_authority(credentials, address)
        os.environ.update(credentials.environment(address))
    try:
        import ray
        import ray._private.services as services
        import ray._private.worker as worker
    except ImportError as error:
        raise UsageError(f"a cluster needs `pip install 'sanderling[cluster]'` ({error})") from None
    if ray.is_initialized():
        return False
    if "RAY_USE_TLS" not in os.environ:
        _require_open(_found(services) if address == "auto" else address)
    if is_loopback(address):  # Ray replaces loopback addresses by ones that others can reach
        services.resolve_ip_for_localhost = as_given
    # It would write what goes on in the cluster to standard output, among the results of a command.
    worker.print_to_stdstream = _to_log
    problem = ""
    with _written_by_ray() as written:
        try:
            ray.init(
                address=address, namespace=NAMESPACE, log_to_driver=False, logging_level=logging.ERROR,
                configure_logging=False,
            )  # fmt: skip
        except Exception as error:  # Ray raises anything at all, and some of it with pages of text
            written.seek(0)
            problem = _sentence(address, error, written.read())
    if problem:
        raise RunFailed(problem)
    return True


def _found(services: Any) -> str:
    """The address of a cluster on this machine, as Ray finds it; empty for none."""
    try:
        return str(services.get_ray_address_from_environment("auto", None))
    except ConnectionError:
        return ""


def _require_open(address: str) -> None:
    """Refuses a cluster that answers in TLS, of which this process has no certificate: Ray would
    try for minutes."""
    if address and speaks_tls(address):
        raise RunFailed(
            f"the cluster at {address} is closed to this machine: copy the folder of the token from its head, or start your "
            "own with `sanderling cluster start`"
        )


def answers(address: str) -> bool:
    """Whether somebody listens at an address."""
    try:
        _reach(address)
    except OSError:
        return False
    return True


def _reach(address: str) -> None:
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT).close()


def require_answer(address: str) -> None:
    """Refuses an address without a listener at once; Ray tries for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise UsageError(f"cluster = {address!r} is neither auto nor the HOST:PORT of a head")
    try:
        _reach(address)
    except OSError as error:
        raise RunFailed(
            f"no cluster answers at {address} ({error.strerror or error}): start it with `sanderling cluster start`"
        ) from None


@contextlib.contextmanager
def _written_by_ray() -> Iterator[IO[str]]:
    """Keeps what Ray's own code writes to standard error while it connects: it is not for users."""
    with tempfile.TemporaryFile("w+", errors="replace") as file:
        sys.stderr.flush()
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield file
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def refuses_token(said: str) -> bool:
    """Whether Ray says that a token is wrong."""
    return "InvalidAuthToken" in said or "nauthenticated" in said


def other_versions(said: str) -> str:
    """How the versions of a cluster and of this machine differ, if that is what Ray says."""
    if "ersion mismatch" not in said:
        return ""
    found = [line.strip().replace(":", "") for line in said.splitlines() if "Ray:" in line or "Python:" in line]
    return f"runs {' and '.join(found[:2])}, and this machine {' and '.join(found[2:])}: install the same versions"


def _sentence(address: str, error: Exception, written: str) -> str:
    said = str(error)
    if refuses_token(said + written):
        return (
            f"the cluster at {address} does not accept this machine's token: copy the folder of the token from its head"
        )
    if differ := other_versions(said):
        return f"the cluster at {address} {differ}"
    if "uthentic" in said or "oken" in said:
        return f"the cluster at {address} does not accept this machine's token: {said.strip().splitlines()[0]}"
    if address == "auto":
        return "this machine is not part of a cluster: start one with `sanderling cluster start`, or join one"
    return f"no cluster answers at {address} ({type(error).__name__}: {said.strip().splitlines()[0][:200]})"


def _end_of_own_node() -> int | None:
    """A descriptor that becomes readable when the node of this machine ends."""
    import ray._private.worker as worker

    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(worker._global_node.raylet_socket_name)
            pid, _, _ = struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return os.pidfd_open(pid)
    except (OSError, AttributeError):  # not Linux, or another name space of processes
        return None


def _nodes(own: str) -> list[ClusterNode]:
    import ray

    here = own or ray.get_runtime_context().get_node_id()
    return [_node(each, here) for each in ray.nodes() if each["Alive"]]


def _node(each: dict[str, Any], here: str) -> ClusterNode:
    labels, cores = each.get("Labels", {}), float(each.get("Resources", {}).get("CPU", 0.0))
    weight = float(labels[WEIGHT]) if str(labels.get(WEIGHT, "")).isdigit() else cores
    in_cloud = ".".join(str(labels[label]) for label in (CLOUD_REGION, CLOUD_ZONE) if labels.get(label))
    region = str(labels.get(REGION) or in_cloud)
    return ClusterNode(
        each["NodeID"], str(labels.get(LABEL) or each["NodeName"]), weight, each["NodeID"] == here, region,
        str(each["NodeManagerAddress"]),
    )  # fmt: skip


def _gone(error: BaseException) -> Gone:
    import ray.exceptions

    said = str(error)
    certain = isinstance(error, ray.exceptions.ActorDiedError) and "worker process has died" in said
    if getattr(error, "actor_init_failed", False) or isinstance(error, ray.exceptions.RayTaskError):
        certain = True
    why = "its process died" if certain else "it cannot be reached"
    if "ModuleNotFoundError" in said:
        why = "Sanderling is not installed there, or in another version"
    elif isinstance(error, ray.exceptions.RayTaskError):
        why = said.strip().splitlines()[-1][:200]
    return Gone(certain, why)


def as_given(host: str) -> str:
    return host


def _to_log(data: dict[str, Any], *_: object, **__: object) -> None:
    for line in data.get("lines", ()):
        logging.getLogger("sanderling").debug("ray: %s", line)
