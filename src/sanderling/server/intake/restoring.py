"""Recognises visits that bring what is stored already: the content of a copy that was lost, or of a
page that was queued again.

Such a page has not changed. A lost copy is replaced by the new one, and its version stays what it
was.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from sanderling.model import Before, Outcome, Visit


def as_before(visits: list[Visit], before: Mapping[int, Before]) -> tuple[list[Visit], list[Visit]]:
    """The visits, with those that brought the last version once more as unchanged; and those of
    them that replace a lost copy."""
    same = {visit.id: visit for visit in visits if visit.id in before and _brings_the_same(visit, before[visit.id])}
    if not same:
        return visits, []
    restored = [visit for visit in same.values() if before[visit.id].lost]
    return [replace(v, outcome=Outcome.UNCHANGED) if v.id in same else v for v in visits], restored


def _brings_the_same(visit: Visit, before: Before) -> bool:
    whole = visit.outcome is Outcome.PAGE and visit.stored is not None and not visit.completes
    return whole and before.there and bool(visit.digest) and visit.digest == before.digest
