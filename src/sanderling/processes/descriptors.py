"""How many files and connections a process may have open. One too many looks like a host that
cannot be reached."""

import resource

from sanderling.errors import RunFailed

# What a process needs beside its connections, what a connection takes while its name is looked up,
# and what each client takes of the server.
SPARE, A_CONNECTION, A_CLIENT = 24, 4, 4
FEWEST = 48


def room_for_connections(wanted: int) -> int:
    """How many connections a client may have open at a time."""
    return max(1, min(wanted, (_allowed(SPARE + A_CONNECTION * wanted) - SPARE) // A_CONNECTION))


def make_room_for_clients(count: int) -> None:
    allowed = _allowed(FEWEST + A_CLIENT * count)
    if allowed < FEWEST:
        raise RunFailed(f"no more than {allowed} files may be open here, too few for a crawl: allow more (`ulimit -n`)")


def _allowed(wanted: int) -> int:
    """Asks for more where the system gives it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft
