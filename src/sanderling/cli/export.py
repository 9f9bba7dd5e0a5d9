"""`sanderling export`: get the data out."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from sanderling.cli.folders import add_folder
from sanderling.cli.output import check_place, written
from sanderling.cli.selecting import add_with_login
from sanderling.errors import UsageError
from sanderling.presenting import markdown
from sanderling.presenting.arguments import pathname
from sanderling.presenting.screen import harmless, many, say, size
from sanderling.repository import export
from sanderling.repository.archive import text_of
from sanderling.repository.folder import Folder
from sanderling.repository.opening import reading
from sanderling.repository.store import Store

_ABOUT = """Writes the data of a crawl to a file, or to standard output with -o -. Markdown is written to a folder.

Formats:
  warc      every request and response as one .warc.gz, for any web archive tool
  cdxj      an index of the WARC files, for pywb and other tools
  jsonl     one JSON object per page with its facts and its text
  markdown  one .md file per page with its facts, without the navigation
  links     the link graph: source and target, separated by a tab
  parquet   the link graph as a Parquet table (needs `sanderling[parquet]`)
  graphml   the link graph as GraphML
"""

FORMATS: dict[str, Callable[[Folder, Store, export.LeftOut, bool], Iterator[bytes]]] = {
    "warc": export.warcs,
    "cdxj": export.cdxj,
    "jsonl": lambda folder, store, left_out, login: export.jsonl(folder, store, left_out, text_of, login),
    "links": export.links,
    "parquet": export.links_parquet,
    "graphml": export.links_graphml,
}


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "export", description=_ABOUT,
    )  # fmt: skip
    add_folder(parser)
    formats = sorted([*FORMATS, "markdown"])
    parser.add_argument("--format", required=True, choices=formats, metavar="FORMAT", help=", ".join(formats))
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        type=pathname,
        help="the file to write (- for standard output), or for Markdown a folder",
    )
    add_with_login(parser)
    parser.add_argument("--force", action="store_true", help="overwrite existing files")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.format == "markdown":
        return _markdown(options)
    if options.output.is_file() and not options.force:
        raise UsageError(f"{options.output} exists; choose another name or add --force")
    left_out = export.LeftOut()
    with reading(options.dir) as (folder, store), written(options.output, folder) as file:
        length = sum(
            file.write(chunk) for chunk in FORMATS[options.format](folder, store, left_out, options.with_login)
        )
    say(f"wrote {size(length)}")
    return _incomplete(left_out, options.dir)


def _incomplete(left_out: export.LeftOut, folder: Path) -> int:
    """Says what could not be read; the exit code."""
    if not left_out.count:
        return 0
    say(
        f"left out {left_out.count:,} that cannot be read, the first: {harmless(left_out.first)}; "
        f"`sanderling check {folder} --deep` lists all, and --repair has them fetched again"
    )
    return 1


def _markdown(options: argparse.Namespace) -> int:
    out: Path = options.output
    if str(out) == "-":
        raise UsageError("Markdown is written to a folder, a file for each page; name one with -o")
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is not a folder; Markdown is written to one, a file for each page")
    if out.is_dir() and any(out.iterdir()) and not options.force:
        raise UsageError(f"{out} is not empty; choose another name or add --force")
    count, left_out = 0, export.LeftOut()
    with reading(options.dir) as (folder, store):
        check_place(out, folder)
        for name, text in markdown.files(folder, store, left_out, options.with_login):
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", "replace")
            count += 1
    say(f"wrote {many(count, 'file')} below {out}")
    return _incomplete(left_out, options.dir)
