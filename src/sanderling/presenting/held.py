"""Says how many URLs a crawl holds back, why, and how to fetch them."""

from collections import Counter

from sanderling.model.reasons import argument_of, code_of

_SAME = "like others that brought nothing new"
# The flag that fetches what is held for a reason, and what is said of it.
_KINDS = {
    "held-off-topic": ("--tunnel-depth N", "too far off the topic"),
    "held-mirror": ("--no-hold", "on mirrors"),
    "held-domain": ("--no-hold", "on further hosts of a domain whose hosts brought nothing new"),
    "held-view": ("--no-hold", "other views of known pages"),
    "held-pattern": ("--no-hold", _SAME),
    "held-listed": ("--no-hold", _SAME),
    "held-far": ("--no-hold", "linked only by pages that repeat others"),
    "held-spent": ("--no-hold", "linked only by pages that repeat others"),
}


def by_code(reasons: dict[str, int]) -> dict[str, int]:
    """How many URLs are held back for each kind of reason."""
    counts: Counter[str] = Counter()
    for why, count in reasons.items():
        counts[code_of(why)] += count
    return dict(counts.most_common())


def held_lines(reasons: dict[str, int], where: str, fetched: int) -> list[str]:
    """Lines of a summary. Where more is held back than was fetched, they belong in front of it."""
    if not (total := sum(reasons.values())):
        return []
    said: Counter[str] = Counter()
    flags: dict[str, None] = {}
    for code, count in by_code(reasons).items():
        flag, words = _KINDS.get(code, ("--no-hold", "for other reasons"))
        said[words] += count
        flags[flag] = None
    parts = [f"{count:,} {words}{_example(reasons) if words == _SAME else ''}" for words, count in said.most_common()]
    more = f", more than the {fetched:,} that were fetched" if total > fetched else ""
    ways = " and ".join(f"`sanderling crawl -d {where} {flag}`" for flag in flags)
    return [
        f"{total:,} held back{more}: {', '.join(parts)}",
        f"`sanderling pages {where} --held` lists these; {ways} {'fetches' if len(flags) == 1 else 'fetch'} them",
    ]


def _example(reasons: dict[str, int]) -> str:
    """The pattern that most of the URLs have."""
    patterns = {why: count for why, count in reasons.items() if code_of(why) in ("held-pattern", "held-listed")}
    return f" (most of them {argument_of(max(patterns, key=lambda why: patterns[why]))})"
