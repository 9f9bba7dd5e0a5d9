"""Learns the noise of files without text that can be compared, such as archives that are made anew
for each request: only their bytes and their unpacked size are known.

Files that differ without a reason mostly keep their size, for example if they hold random marks.
So another size is counted apart, and is news until it, too, differed at most visits of that file.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Final

import msgspec

from .noise import MIN_FIRST, UNSEEN, Noise, Place

BYTES: Final = "bytes"
SIZE: Final = "size"
MAX_KINDS: Final = 32


def kind_of(mime: str) -> str:
    """The kind by which a site learns. Empty for what has text or a look, except in rare cases."""
    return "" if mime.startswith(("text/", "image/")) or mime.endswith("xml") else mime


def learn_file(known: Noise, differs: Set[str]) -> Noise:
    """The noise of a file after another visit, whether it differs or not."""
    return msgspec.structs.replace(
        known, files={each: _counted(known.files.get(each, UNSEEN), each in differs) for each in (BYTES, SIZE)}
    )


def learn_kind(template: Noise, kind: str, known: Noise, differs: Set[str]) -> Noise:
    """The noise of a site after the first revisit of one of its files: how many of the kind differ
    then, at the same size."""
    if not kind or known.files or (len(template.files) >= MAX_KINDS and kind not in template.files):
        return template
    count = _counted(template.files.get(kind, UNSEEN), differs == {BYTES})
    return msgspec.structs.replace(template, files=template.files | {kind: count})


def is_noisy(differs: Set[str], known: Noise, template: Noise, kind: str) -> bool:
    """Whether a file differs only as it did on most visits. What its site teaches does not count
    for a file that was once found as it was."""
    learned = {each for each, count in known.files.items() if count.volatile}
    own, count = known.files.get(BYTES, UNSEEN), template.files.get(kind, UNSEEN)
    if own.changes == own.visits and count.changes >= MIN_FIRST and 2 * count.changes > count.visits:
        learned.add(BYTES)
    return differs <= learned


def _counted(count: Place, differs: bool) -> Place:
    return Place(count.changes + differs, count.visits + 1)
