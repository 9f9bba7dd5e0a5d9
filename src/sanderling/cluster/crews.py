"""Where the clients of a crawl run: on this machine, or on the machines of a cluster."""

import contextlib

from sanderling.repository.folder import Folder
from sanderling.server.members.crew import Crew
from sanderling.server.members.crews import Begin, on_this_machine
from sanderling.server.members.switchboard import Switchboard
from sanderling.server.opening import OpenCrawl, new_archives
from sanderling.settings import Settings


def as_set(folder: Folder, settings: Settings, undo: contextlib.ExitStack) -> Begin:
    """Where the settings say."""
    return (on_cluster if settings.cluster else on_this_machine)(folder, settings, undo)


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
