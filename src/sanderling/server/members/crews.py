"""Where the clients of a crawl run. Here: on this machine. `cluster/crews.py` also knows
clusters."""

import contextlib
from collections.abc import Callable

from sanderling.processes import crew, entry_points
from sanderling.processes.marker import marker_path
from sanderling.repository.folder import Folder
from sanderling.server.members.crew import Crew
from sanderling.server.members.switchboard import Switchboard
from sanderling.server.opening import OpenCrawl, socket_in
from sanderling.settings import Settings

# Starts a number of clients for an open crawl.
Begin = Callable[[int, OpenCrawl, Folder], tuple[Switchboard, Crew]]
# Chooses where they run, before anything is made of the crawl.
Place = Callable[[Folder, Settings, contextlib.ExitStack], Begin]


def on_this_machine(folder: Folder, settings: Settings, undo: contextlib.ExitStack) -> Begin:
    """Clients are processes here; others may join."""
    return _begin_here


def _begin_here(size: int, opened: OpenCrawl, folder: Folder) -> tuple[Switchboard, Crew]:
    def command(name: str) -> list[str]:
        """What is local to a client is told here and not by message."""
        socket, marker = socket_in(opened.run_folder), marker_path(opened.run_folder, name)
        return entry_points.command("client", name, socket, folder.warcs.absolute(), marker)

    return opened.switchboard, crew.LocalCrew(size, command, opened.run_folder)
