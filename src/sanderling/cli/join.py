"""`sanderling join`: one more client process for a crawl that is running."""

import argparse

from sanderling.cli.folders import add_folder
from sanderling.errors import UsageError
from sanderling.jobs.client import local_client
from sanderling.processes.crew import new_name
from sanderling.processes.marker import marker_path
from sanderling.repository.folder import Folder, in_use
from sanderling.server.run_folder import LINK


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "join",
        description="Adds a client process to the crawl that is running in a folder. It ends with the crawl.",
    )  # fmt: skip
    add_folder(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    folder = Folder(options.dir)
    folder.require()
    if not in_use(folder):
        raise UsageError(f"no crawl is running in {options.dir}: start one with `sanderling crawl -d {options.dir}`")
    name, socket = new_name(), (options.dir / LINK).resolve()
    local_client(name, socket, folder.warcs.absolute(), marker_path(socket.parent, name))
    return 0
