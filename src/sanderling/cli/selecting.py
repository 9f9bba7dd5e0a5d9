"""The flags with which every command that tells changes is narrowed down."""

import argparse

from sanderling import clock
from sanderling.model import ChangeKind
from sanderling.presenting.arguments import host, share
from sanderling.presenting.versions import moment
from sanderling.repository.store import Notes
from sanderling.telling.baseline import baseline
from sanderling.telling.selection import ChangeFilter, kinds_named

KINDS = [each.name.lower() for each in ChangeKind if each.name]


def add_filters(parser: argparse.ArgumentParser, since: str | None = None, login: bool = False) -> None:
    """With `login`, pages that were read with the user's login are listed without being asked
    for."""
    note = f" (default: {since})" if since else ""
    parser.add_argument(
        "--since",
        metavar="WHEN",
        default=since,
        help=f"only changes since then: 2026-11-01, '2026-11-01 12:00', 3h, 7d{note}",
    )
    listed = ", ".join(KINDS)
    parser.add_argument(
        "--kind",
        action="append",
        choices=KINDS,
        metavar="KIND",
        help=f"only changes of this kind (repeatable): {listed}",
    )
    parser.add_argument(
        "--min-significance",
        type=share,
        default=0.0,
        metavar="S",
        help="only changes of at least this significance, 0 to 1",
    )
    parser.add_argument(
        "--host",
        type=host,
        action="append",
        default=[],
        metavar="NAME",
        help="only this host and its subdomains (repeatable)",
    )
    parser.add_argument("--baseline", action="store_true", help="also list the pages that the first crawl found")
    parser.add_argument(
        "--all", action="store_true", help="also list changes that are not news, and the pages of the first crawl"
    )
    if login:
        parser.set_defaults(with_login=True)
    else:
        add_with_login(parser)


def add_with_login(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--with-login", action="store_true", help="also include pages that were read with your login")


def wanted(options: argparse.Namespace, store: Notes) -> ChangeFilter:
    return ChangeFilter(
        since=moment(options.since, clock.now()) if options.since is not None else 0.0,
        kinds=kinds_named(options.kind or ()),
        significance=options.min_significance,
        hosts=tuple(options.host),
        everything=options.all,
        login=options.with_login,
        after=0 if options.all or options.baseline else baseline(store).number,
    )
