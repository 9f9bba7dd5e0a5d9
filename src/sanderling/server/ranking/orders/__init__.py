"""The orders of visits. Each name in `settings.ORDERS` is a module of this name with a `SCORING`.
An installed package may offer others (`docs/doors.md`)."""

from importlib import import_module
from typing import cast

from sanderling import plugins
from sanderling.arrays import Floats
from sanderling.server.ranking.order import Scoring, Snapshot
from sanderling.settings import ORDERS


def scoring(order: str) -> Scoring:
    """How an order scores URLs, and what it has to read for that."""
    if order in ORDERS:
        return cast(Scoring, import_module(f"{__name__}.{order.replace('-', '_')}").SCORING)
    return cast(Scoring, plugins.installed(plugins.ORDERS, order))


def scores(order: str, known: Snapshot) -> Floats:
    """What every URL is worth in the order asked for."""
    return scoring(order).score(known)
