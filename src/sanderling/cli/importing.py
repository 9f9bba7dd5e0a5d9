"""`sanderling import`: web archives of other programs become a crawl."""

import argparse
import shutil
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from sanderling.cli.recover import take_back
from sanderling.errors import UsageError
from sanderling.files import PRIVATE, write_whole
from sanderling.presenting.arguments import pathname
from sanderling.presenting.screen import NowAndThen, harmless, many, say, size
from sanderling.repository import foreign
from sanderling.repository.exchanges import ArchivedExchange, exchanges
from sanderling.repository.folder import Folder
from sanderling.server.archived_fetch import is_file
from sanderling.settings import Settings, dump
from sanderling.urls import canonical

_ABOUT = """Takes web archives into a crawl folder, which is made if it is not there.

WARC files (plain, gzip, zstd), WACZ and ARC files are read, of GNU Wget, Heritrix, Browsertrix,
Common Crawl and others. Name files, or folders that are searched for them. Every response becomes a
visit, with its version, text, links and changes. Afterwards search, diff, export and
`crawl -d DIR --again` work as on a crawl of ours.

Archives are copied. With --link, those with a gzip member for each record stay where they are, and
the folder has links to them; others have to be copied. The same file is taken in once, and an import
that was interrupted goes on when you repeat the command.
"""
# Where the pages of the first of so many archives begin is what the crawl is about.
_SEED_ARCHIVES, _SEEDS, _LOOKED_AT = 20, 100, 1000


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("import", description=_ABOUT)
    parser.add_argument(
        "archives", nargs="+", type=pathname, metavar="FILE|FOLDER", help="archives, or folders of them"
    )
    parser.add_argument("-d", "--dir", required=True, type=pathname, help="the crawl folder")
    parser.add_argument("--link", action="store_true", help="link to archives instead of copying them, where possible")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    folder = Folder(options.dir)
    if not folder.exists():
        _check_new(folder)
    found = foreign.sources(options.archives)
    inside = [each.label for each in found if folder.owns(each.path)]
    if inside:
        raise UsageError(f"{inside[0]} is in the crawl folder itself; `sanderling recover {options.dir}` reads it")
    folder.warcs.mkdir(parents=True, exist_ok=True)
    lost = 0
    progress = NowAndThen()
    for number, source in enumerate(found, 1):
        lost += _place(source, folder.warcs, options.link, f"archive {number:,} of {len(found):,}", progress)
    if not folder.exists():
        seeds = _seeds(found, folder.warcs)
        write_whole(folder.settings, dump(Settings(), tuple(seeds)).encode(), mode=PRIVATE)
    code = take_back(folder, "importing")
    return code or (1 if lost else 0)


def _check_new(folder: Folder) -> None:
    """A new folder may hold what an import has placed that was interrupted, and nothing else."""
    placed = folder.warcs.is_dir() and all(each.name.startswith("imported-") for each in folder.warcs.iterdir())
    if not placed or any(each != folder.warcs for each in folder.path.iterdir()):
        folder.check_usable()


def _place(source: foreign.ForeignArchive, warcs: Path, link: bool, which: str, progress: NowAndThen) -> int:
    """Puts an archive where the crawl has its own; returns how many stretches of it were lost."""
    target = warcs / source.name
    if target.exists() or (warcs / "orphaned" / source.name).exists():
        return 0
    if foreign.lies_ready(source):
        if link:
            target.symlink_to(source.path.resolve())
        else:
            part = target.with_name(target.name + ".part")
            shutil.copyfile(source.path, part)
            part.replace(target)
        return 0
    if link:
        say(f"{harmless(source.label)} has no gzip member for each record, so it is copied")
    taken = foreign.take_in(source, target, lambda done: progress.say(f"{which}: {size(done)}"))
    if taken.damaged or not taken.records:
        what = f"{many(taken.damaged, 'stretch', 'stretches')} that cannot be read" if taken.damaged else "no record"
        say(f"{harmless(source.label)} has {what}; {many(taken.records, 'record')} taken in")
    return taken.damaged


def _seeds(found: list[foreign.ForeignArchive], warcs: Path) -> list[str]:
    """Where the crawl of a new folder begins: the seeds that archives name, else the first pages in
    them."""
    named = [url for path in {each.path: None for each in found if each.member} for url in foreign.seeds_of(path)]
    if not named:
        named = [url for each in found[:_SEED_ARCHIVES] if (url := _first_page(warcs / each.name))]
    return list(dict.fromkeys(seed for each in named[:_SEEDS] if (seed := canonical(each))))


def _first_page(path: Path) -> str:
    looked_at: Iterable[ArchivedExchange] = islice(exchanges(path), _LOOKED_AT) if path.exists() else ()
    pages = (each.url for each in looked_at if each.fields["warc-type"] == "response" and not is_file(each))
    return next((url for url in pages if canonical(url) and not url.endswith("/robots.txt")), "")
