"""Compares change detection with other ways to compare two versions of a page, on the same pairs.

    python -m bench change [--pages FOLDER] [--pairs N]

The first part measures what a fingerprint adds to a visit (`bench.fingerprints`). The second part
uses pairs of versions: FOLDER contains NAME.before.html and NAME.after.html. Without a folder,
pages are generated and edited. Our time is that of a revisit: parse the new version, make its
fingerprint, compare it with the old one. lxml.html.diff and xmldiff get both pages.
changedetection.io runs its own functions, in the order that it uses for a page without filters, and
gets the stored text of the old page. The libraries below it, inscriptis and difflib, are also
measured alone. All of them have an environment of their own in bench/.cache/change.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ENVIRONMENT = Path(__file__).parent / ".cache" / "change"
PACKAGES = ("lxml", "xmldiff", "inscriptis", "beautifulsoup4", "diff-match-patch", "loguru")
# Without dependencies: the libraries that compare texts are listed above, and its server is not
# needed.
ALONE = "changedetection.io==0.60.10"
SECONDS_A_PAIR = 20.0
DOCUMENTATION = 320
Pair = tuple[str, str]


def ours(pairs: list[Pair]) -> tuple[list[float], list[float]]:
    """CPU seconds of every revisit, and the part beyond parsing, which a crawler needs for the
    links anyway."""
    from sanderling.change import compare, fingerprint
    from sanderling.documents.tree import parse

    stored = [fingerprint(parse(before)) for before, _ in pairs]
    parsing = [_timed(parse, after) for _, after in pairs]

    def revisit(at: int) -> None:
        compare(stored[at], fingerprint(parse(pairs[at][1])))

    whole = [_timed(revisit, at) for at in range(len(pairs))]
    return whole, [both - parse for both, parse in zip(whole, parsing, strict=True)]


def lxml_html_diff(pairs: list[Pair]) -> list[float]:
    from lxml.html.diff import htmldiff

    return [_timed(htmldiff, before, after) for before, after in pairs]


def xmldiff(pairs: list[Pair]) -> list[float]:
    from lxml import html
    from xmldiff.main import diff_trees

    return [
        _timed(lambda one, other: diff_trees(html.fromstring(one), html.fromstring(other)), *pair) for pair in pairs
    ]


def changedetection(pairs: list[Pair]) -> list[float]:
    from loguru import logger

    logger.remove()
    from changedetectionio import diff, html_tools

    def text(page: str) -> str:
        content = html_tools.workarounds_for_obfuscations(page)
        html_tools.has_ldjson_product_info(content)
        return str(html_tools.html_to_text(content))

    return _by_text(pairs, text, diff.render_diff)


def inscriptis(pairs: list[Pair]) -> list[float]:
    """Renders to text, strips, hashes, and diffs by lines if the hash differs."""
    import difflib

    from inscriptis import get_text

    def text(page: str) -> str:
        return "\n".join([line.rstrip() for line in get_text(page).splitlines() if line.strip()])

    return _by_text(pairs, text, lambda old, new: [*difflib.unified_diff(old.splitlines(), new.splitlines())])


def _by_text(pairs: list[Pair], text: Callable[[str], str], differ: Callable[[str, str], object]) -> list[float]:
    import hashlib

    stored = [text(before) for before, _ in pairs]

    def revisit(at: int) -> None:
        new = text(pairs[at][1])
        if hashlib.md5(new.encode()).digest() != hashlib.md5(stored[at].encode()).digest():
            differ(stored[at], new)

    return [_timed(revisit, at) for at in range(len(pairs))]


RIVALS: dict[str, Callable[[list[Pair]], list[float]]] = {
    "lxml.html.diff": lxml_html_diff,
    "xmldiff": xmldiff,
    "changedetection.io (text)": changedetection,
    "inscriptis and difflib": inscriptis,
}


def _timed(run: Callable[..., Any], *arguments: Any) -> float:
    """The fastest of a few runs. Other load can only make a run slower."""
    times = []
    for _ in range(5):
        start = time.thread_time()
        run(*arguments)
        times.append(time.thread_time() - start)
    return min(times)


def read_pairs(folder: Path, count: int) -> list[Pair]:
    """Pairs that every method can finish: not empty, and at most 60 KB."""
    pairs = []
    for before in sorted(folder.glob("*.before.html")):
        after = before.with_name(before.name.replace(".before.", ".after."))
        one, other = (path.read_bytes().decode("utf-8", "replace") for path in (before, after))
        if one.strip() and other.strip() and one != other and max(len(one), len(other)) <= 60_000:
            pairs.append((one, other))
    return pairs[:: max(1, len(pairs) // count)][:count]


def generated_pairs(count: int) -> list[Pair]:
    from lab import change_edits
    from sanderling.documents.tree import parse

    dice = random.Random(4)
    edits = [*change_edits.EDITS.values()]
    pairs = []
    for at in range(count):
        page = "".join(change_edits.page(dice) for _ in range(7))
        edited = parse(page)
        edits[at % len(edits)](edited, dice)
        pairs.append((parse(page).html, edited.html))
    return pairs


def environment() -> Path | None:
    """The environment of the other methods. None if it cannot be made."""
    python = ENVIRONMENT / "bin" / "python"
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True, capture_output=True)
        for packages in (PACKAGES, ("--no-deps", ALONE)):
            install = [python, "-m", "pip", "install", "-q", *packages]
            subprocess.run(install, check=True, capture_output=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"rivals skipped, their packages cannot be installed: {error}", file=sys.stderr)
        return None
    return python


def race(python: Path, rival: str, pairs: list[Pair]) -> list[float | None]:
    """Runs one pair at a time, so that a pair that never ends stops only itself."""
    times: list[float | None] = []
    for pair in pairs:
        try:
            done = subprocess.run(
                [python, __file__, rival],
                input=json.dumps([pair]),
                capture_output=True,
                text=True,
                timeout=SECONDS_A_PAIR,
                check=True,
            )
            times.append(json.loads(done.stdout)[0])
        except subprocess.SubprocessError:
            times.append(None)
    return times


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=Path, metavar="FOLDER", help="pairs to compare (generated)")
    parser.add_argument("--pairs", type=int, default=24, metavar="N", help="how many (24)")


def run(options: argparse.Namespace) -> int:
    pairs = read_pairs(options.pages, options.pairs) if options.pages else generated_pairs(options.pairs)
    from bench import fingerprints

    if pages := fingerprints.documentation(DOCUMENTATION):
        fingerprints.report(pages, "documentation pages")
    else:
        fingerprints.report([after.encode("utf-8", "replace") for _, after in pairs], "pages")
    whole, on_top = ours(pairs)
    size = sum(len(after) for _, after in pairs) / len(pairs) / 1000
    print(f"{len(pairs)} pairs, mean page {size:.0f} KB; CPU milliseconds a pair, and how often ours goes into it")
    print(f"{'':28}{'ms':>10}{'of ours':>10}{'of ours without parsing':>26}")
    print(f"{'Sanderling':28}{_mean(whole):10.3f}")
    print(f"{'Sanderling without parsing':28}{_mean(on_top):10.3f}")
    python = environment()
    for rival in RIVALS if python else ():
        times = race(python, rival, pairs)  # type: ignore[arg-type]
        done = [at for at, seconds in enumerate(times) if seconds is not None]
        if not done:
            print(f"{rival:28}    none finished in {SECONDS_A_PAIR:.0f} s")
            continue
        theirs = sum(times[at] or 0.0 for at in done)
        ratios = [theirs / sum(mine[at] for at in done) for mine in (whole, on_top)]
        note = f"   {len(times) - len(done)} not finished in {SECONDS_A_PAIR:.0f} s" if len(done) < len(times) else ""
        print(f"{rival:28}{1e3 * theirs / len(done):10.3f}{ratios[0]:10.0f}{ratios[1]:26.0f}{note}")
    return 0


def _mean(seconds: list[float]) -> float:
    return 1e3 * sum(seconds) / len(seconds)


if __name__ == "__main__":  # in the environment of the other methods
    print(json.dumps(RIVALS[sys.argv[1]](json.load(sys.stdin))))
