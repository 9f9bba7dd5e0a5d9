"""Where the clients of a crawl run: on this machine, or on the machines of a cluster."""

import contextlib
from collections.abc import Callable

from sanderling.crawling.crew import Crew
from sanderling.crawling.opening import OpenCrawl, new_archives, socket_in
from sanderling.processes import crew, entry_points
from sanderling.processes.marker import marker_path
from sanderling.repository.folder import Folder
from sanderling.server.switchboard import Switchboard
from sanderling.settings import Settings

Begin = Callable[[int, OpenCrawl, Folder], tuple[Switchboard, Crew]]


def on_this_machine(size: int, opened: OpenCrawl, folder: Folder) -> tuple[Switchboard, Crew]:
    """Clients are processes here; others may join."""

    def command(name: str) -> list[str]:
        """What is local to a client is told here and not by message."""
        socket, marker = socket_in(opened.run_folder), marker_path(opened.run_folder, name)
        return entry_points.command("client", name, socket, folder.warcs.absolute(), marker)

    return opened.switchboard, crew.LocalCrew(size, command, opened.run_folder)


def on_cluster(folder: Folder, settings: Settings, undo: contextlib.ExitStack) -> Begin:
    """Clients run on the machines of a cluster. It is connected to at once, before anything is made
    of the crawl."""
    from sanderling.cluster import engine, joined, switchboard
    from sanderling.cluster.crew import ClusterCrew
    from sanderling.cluster.landing import Landing
    from sanderling.cluster.levels import Shape

    connected = undo.enter_context(contextlib.closing(engine.Engine(settings.cluster or "")))

    def begin(size: int, opened: OpenCrawl, folder: Folder) -> tuple[Switchboard, Crew]:
        place = new_archives(folder.warcs, opened.run_folder)
        remote = switchboard.ClusterSwitchboard(lambda client: Landing(place, client))
        undo.callback(remote.close)
        crew = ClusterCrew(size, connected, remote, Shape.of(settings, folder.path))
        return joined.JoinedSwitchboard(opened.switchboard, remote), crew

    return begin
