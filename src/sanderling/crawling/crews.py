"""Where the clients of a crawl run: on this machine, or on the machines of a cluster."""

import contextlib
from collections.abc import Callable
from pathlib import Path

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
    """Clients run on the machines of a cluster. It is connected to at once, before anything is made of the crawl."""
    from sanderling.cluster import engine, joined, messages, switchboard
    from sanderling.cluster.crew import ClusterCrew

    connected = undo.enter_context(contextlib.closing(engine.Engine(settings.cluster or "")))

    def begin(size: int, opened: OpenCrawl, folder: Folder) -> tuple[Switchboard, Crew]:
        place = new_archives(folder.warcs, opened.run_folder)
        remote = switchboard.ClusterSwitchboard(place, settings.cluster_patience)
        undo.callback(remote.close)
        terms = messages.MachineTerms(
            settings.cluster_patience * FENCE_SHARE, settings.cluster_compress, named_files(settings, folder.path)
        )
        return joined.JoinedSwitchboard(opened.switchboard, remote), ClusterCrew(size, connected, remote, terms)

    return begin


# Of the time that the server waits for a silent machine, so much passes before the machine ends its clients.
FENCE_SHARE = 0.6


def named_files(settings: Settings, folder: Path) -> dict[str, bytes]:
    """The files of the user that clients read."""
    names = {text.rpartition(":")[0] for text in settings.extractors}
    return {name: path.read_bytes() for name in names if name.endswith(".py") and (path := folder / name).is_file()}
