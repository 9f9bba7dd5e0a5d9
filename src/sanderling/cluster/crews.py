"""Where the clients of a crawl run: on this machine, or on the machines of a cluster."""

import contextlib

from sanderling.errors import UsageError
from sanderling.repository.folder import Folder
from sanderling.server.members.crew import Crew
from sanderling.server.members.crews import Begin, on_this_machine
from sanderling.server.members.switchboard import Switchboard
from sanderling.server.opening import OpenCrawl, new_archives
from sanderling.settings import Settings


def as_set(folder: Folder, settings: Settings, undo: contextlib.ExitStack) -> Begin:
    """Where the settings say."""
    return (on_cluster if settings.cluster or settings.hosts else on_this_machine)(folder, settings, undo)


def on_cluster(folder: Folder, settings: Settings, undo: contextlib.ExitStack) -> Begin:
    """Clients run on the machines of a cluster. It is connected to at once, before anything is made
    of the crawl."""
    from sanderling.cluster import engine, joined, switchboard
    from sanderling.cluster.crew import ClusterCrew
    from sanderling.cluster.landing import Landing
    from sanderling.cluster.levels import Shape

    if settings.cluster and settings.hosts:
        raise UsageError("--hosts starts a cluster of its own: leave out --cluster")
    address = settings.cluster or undo.enter_context(_over_ssh(settings))
    connected = undo.enter_context(contextlib.closing(engine.Engine(address)))

    def begin(size: int, opened: OpenCrawl, folder: Folder) -> tuple[Switchboard, Crew]:
        if settings.hosts and not settings.clients:
            size = max(1, round(sum(node.weight for node in connected.nodes)))
        place = new_archives(folder.warcs, opened.run_folder)
        remote = switchboard.ClusterSwitchboard(lambda client: Landing(place, client))
        undo.callback(remote.close)
        crew = ClusterCrew(size, connected, remote, Shape.of(settings, folder.path))
        return joined.JoinedSwitchboard(opened.switchboard, remote), crew

    return begin


def _over_ssh(settings: Settings) -> contextlib.AbstractContextManager[str]:
    """A cluster of the hosts that the settings name, for this run."""
    from sanderling.cluster import ssh

    return ssh.cluster_of(ssh.hosts_in(settings.hosts), settings.hosts_ssh, settings.hosts_program)
