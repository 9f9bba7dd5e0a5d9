"""Revisit policies: which pages to visit now, or when each page is due. Each is a module of its
name, with a `POLICY`; an installed package may offer others (`docs/doors.md`)."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from sanderling import plugins

if TYPE_CHECKING:  # a command that only checks the name need not wait for numpy
    import numpy as np
    from numpy.typing import NDArray

    from sanderling.freshness.choosing import PlannedTimes, VisitBudget

POLICIES = ("optimal", "uniform", "proportional", "nutch", "by-rank", "top-levels", "all")


class RevisitPolicy(Protocol):
    # Which pages are visited at all, for a policy that has a limit; else True. It gets the pages,
    # and the values of --threshold and --top-levels.
    inside: "Callable[[NDArray[np.void], float, int], NDArray[np.bool_] | bool]"

    def choose(self, asked: "VisitBudget") -> "NDArray[np.intp]":
        """The pages on which to spend the budget now, the best first."""

    def schedule(self, asked: "VisitBudget") -> "PlannedTimes":
        """When each page is due, if the budget may be spent each day."""


def is_policy(name: str) -> bool:
    return name in POLICIES or plugins.installed(plugins.REVISIT_POLICIES, name) is not None


def policy(name: str) -> RevisitPolicy:
    if name in POLICIES:
        module = import_module(f"sanderling.freshness.policies.{name.replace('-', '_')}")
        return cast(RevisitPolicy, module.POLICY)
    found: RevisitPolicy = plugins.installed(plugins.REVISIT_POLICIES, name)
    return found
