"""`sanderling announce`: publishes which pages of a site are new, changed or gone."""

import argparse

from sanderling.errors import RunFailed, UsageError
from sanderling.urls import canonical, join
from sanderling.urls.patterns import pattern
from sanderling_announce import command
from sanderling_announce.errors import CannotAnnounce, WrongUse
from sanderling_announce.tools import PostAnswer, Tools


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("announce", description=command.ABOUT)
    command.add_arguments(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        return command.run(options, Tools(canonical, join, pattern, _post))
    except WrongUse as error:
        raise UsageError(str(error)) from None
    except CannotAnnounce as error:
        raise RunFailed(str(error)) from None


def _post(url: str, headers: dict[str, str], body: bytes) -> PostAnswer:
    """The user named the address, so it may be a private one."""
    from sanderling.network import agent
    from sanderling.network.reach import ANYWHERE
    from sanderling.settings import Settings
    from sanderling.telling.post import post

    answer = post(url, headers, body, agent=agent(Settings()), reach=ANYWHERE)
    return PostAnswer(answer.status, answer.complaint_or_none, answer.retry_after)
