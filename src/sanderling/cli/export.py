"""`sanderling export`: get the data out."""

import argparse
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from sanderling import clock
from sanderling.cli.folders import add_folder
from sanderling.cli.output import check_place, written
from sanderling.cli.selecting import add_with_login
from sanderling.errors import UsageError
from sanderling.files import PRIVATE, write_whole
from sanderling.presenting import markdown
from sanderling.presenting.arguments import pathname
from sanderling.presenting.export_folder import ExportFolder, FolderFile
from sanderling.presenting.markdown_ahead import ahead
from sanderling.presenting.mirror import mirror
from sanderling.presenting.screen import NowAndThen, harmless, many, say, size
from sanderling.presenting.single import printed, singles
from sanderling.presenting.table_files import csv_of, duckdb_file, parquet_of, sqlite_file
from sanderling.presenting.tables import TABLES, item_lines
from sanderling.presenting.versions import moment
from sanderling.repository import archive_export, export, views
from sanderling.repository.archive import text_of
from sanderling.repository.folder import Folder
from sanderling.repository.opening import reading
from sanderling.repository.remote import RemoteFile, file_exists, remote_file, write_file
from sanderling.repository.store import Store, ViewStore
from sanderling.repository.wacz import Sign, wacz
from sanderling.repository.zstd_export import warc_zst
from sanderling.urls.patterns import pattern

_ABOUT = """Writes the data of a crawl to a file, to standard output with -o -, or to object storage
with -o s3://bucket/prefix/name. Formats with a file for each page
(markdown, site, single, pdf) are written to a folder. Done again, they write what changed, remove files
of pages that are gone, and go on where an interrupted export was.

Formats:
  warc      every request and response as one .warc.gz, for any web archive tool
  warc.zst  the same packed with zstd (needs `pip install sanderling[zstd]`)
  wacz      all of it with an index and all pages listed, for replayweb.page
  cdxj      an index of the WARC files, for pywb and other tools
  jsonl     one JSON object per page: its facts, text and main content
  markdown  one .md file per page with its facts, without the navigation
  chunks    pieces of pages for retrieval, by heading: one JSON object each,
            with an id that stays
  llms.txt  a list of all pages for language models; llms-full.txt has their
            content as Markdown
  site      the newest copies as files that open from a disk
  single    one HTML file for each page with all that it shows in it
  pdf       one PDF for each page (needs a browser)
  items     the items that extractors found: one JSON object each
  csv       a table: --table pages, versions, failures, links, hosts, items, or
            the name of an extractor, whose fields are then columns
  parquet   the same as Parquet, without --table the link graph (needs
            `sanderling[parquet]`)
  duckdb    all tables as a database of DuckDB (needs `sanderling[sql]`)
  sqlite    all tables as a database of SQLite
  links     the link graph: source and target, separated by a tab
  graphml   the link graph as GraphML
"""

# Formats that are made of records, and can be narrowed down.
ARCHIVES: dict[str, Callable[[Folder, Store, export.LeftOut, archive_export.RecordChoice], Iterator[bytes]]] = {
    "warc": archive_export.warcs,
    "warc.zst": warc_zst,
    "wacz": wacz,
    "cdxj": archive_export.cdxj,
}
FORMATS: dict[str, Callable[[Folder, Store, export.LeftOut, bool], Iterator[bytes]]] = {
    "jsonl": lambda folder, store, left_out, login: export.jsonl(folder, store, left_out, text_of, login),
    "chunks": lambda *about: markdown.chunk_lines(ahead(markdown.pages(*about), about[2])),
    "llms.txt": lambda *about: markdown.llms_txt(markdown.pages(*about)),
    "llms-full.txt": lambda *about: markdown.llms_full_txt(ahead(markdown.pages(*about), about[2])),
    "items": lambda folder, store, left_out, login: item_lines(store, login),
    "links": export.links,
    "parquet": export.links_parquet,
    "graphml": export.links_graphml,
}
TABLE_FORMATS = {"csv": csv_of, "parquet": parquet_of}
# Formats that are a folder of files, and those of them that are about all pages.
FOLDERS = ("markdown", "site", "single", "pdf")
WHOLE = ("markdown", "site")
# A database that was made is uploaded in pieces of so many bytes.
_PIECE = 1 << 20
DATABASES = {"duckdb": duckdb_file, "sqlite": sqlite_file}


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "export", description=_ABOUT,
    )  # fmt: skip
    add_folder(parser)
    formats = sorted({*ARCHIVES, *FORMATS, *TABLE_FORMATS, *DATABASES, *FOLDERS})
    parser.add_argument("--format", required=True, choices=formats, metavar="FORMAT", help=", ".join(formats))
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        type=_place,
        help="the file to write (- for standard output, s3://bucket/prefix/name for object storage); "
        "for markdown, site, single and pdf a folder",
    )
    parser.add_argument("--table", metavar="NAME", help="for csv and parquet: the table")
    when = "2026-11-01, '2026-11-01 12:00', 3h, 7d"
    parser.add_argument(
        "--since", metavar="WHEN", help=f"for warc, wacz and cdxj: only what was fetched since then: {when}"
    )
    parser.add_argument("--until", metavar="WHEN", help="likewise: only what was fetched before")
    parser.add_argument(
        "--urls", metavar="PATTERN",
        help="for these, and single and pdf: only URLs that match this pattern (RE2 syntax)",
    )  # fmt: skip
    parser.add_argument(
        "--sign", action="store_true", help="for wacz: sign it with a key that is kept in the crawl folder"
    )
    parser.add_argument(
        "--no-browser-sandbox", dest="browser_sandbox", action="store_false",
        help="for pdf: print even where the system forbids the browser its sandbox or an empty network",
    )  # fmt: skip
    add_with_login(parser)
    parser.add_argument("--force", action="store_true", help="overwrite existing files")
    parser.set_defaults(run=run)


def _place(text: str) -> Path | RemoteFile:
    return remote_file(text) if text.startswith("s3:") else pathname(text)


def run(options: argparse.Namespace) -> int:
    if isinstance(options.output, RemoteFile):
        return _remote(options, options.output)
    if options.format in FOLDERS:
        return _folder(options)
    if options.format in DATABASES:
        return _database(options)
    if options.output.is_file() and not options.force:
        raise UsageError(f"{options.output} exists; choose another name or add --force")
    left_out, progress, length = export.LeftOut(), NowAndThen(), 0
    with reading(options.dir) as (folder, store), written(options.output, folder) as file:
        for chunk in _chunks(options, folder, store, left_out):
            length += file.write(chunk)
            progress.say(f"exporting: {size(length)}")
        _say_left_out(store, options)
    say(f"wrote {size(length)}")
    return _incomplete(left_out, options.dir)


def _remote(options: argparse.Namespace, file: RemoteFile) -> int:
    """Uploads the file while it is made."""
    if options.format in FOLDERS:
        raise UsageError(f"{options.format} is a folder of files: export it to a folder, and copy that to {file}")
    if not options.force and file_exists(file):
        raise UsageError(f"{file} exists; choose another name or add --force")
    left_out, progress, length = export.LeftOut(), NowAndThen(), 0

    def counted() -> Iterator[bytes]:
        nonlocal length
        for chunk in chunks:
            yield chunk
            length += len(chunk)
            progress.say(f"exporting to {file}: {size(length)}")

    with reading(options.dir) as (folder, store):
        made = options.format in DATABASES
        chunks = _database_chunks(options, store) if made else _chunks(options, folder, store, left_out)
        write_file(file, counted())
        _say_left_out(store, options)
    say(f"wrote {size(length)} to {file}")
    return _incomplete(left_out, options.dir)


def _database_chunks(options: argparse.Namespace, store: Store) -> Iterator[bytes]:
    """A database is not written from its beginning to its end, so it is made here first."""
    with TemporaryDirectory(prefix="sanderling-") as place:
        path = Path(place, "database")
        DATABASES[options.format](path, store, options.with_login)
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece


def _folder(options: argparse.Namespace) -> int:
    """A format that is a folder with a file for each page."""
    out: Path = options.output
    if str(out) == "-" or (out.exists() and not out.is_dir()):
        raise UsageError(f"{options.format} is written to a folder, a file for each page; name one with -o")
    if options.since or options.until or options.table or options.sign or (options.urls and options.format in WHOLE):
        raise UsageError(f"--format {options.format} does not take these options; see `sanderling export --help`")
    folder_files, left_out, progress = ExportFolder(out, options.format), export.LeftOut(), NowAndThen()
    if out.is_dir() and any(out.iterdir()) and not options.force and not folder_files.is_ours():
        raise UsageError(f"{out} is not empty; choose another name or add --force")
    with reading(options.dir) as (folder, store):
        check_place(out, folder)
        files = _files(options, folder, store, left_out, folder_files)
        done = folder_files.write(files, lambda count: progress.say(f"exporting: {many(count, 'file')}"))
        _say_left_out(store, options)
    say(f"wrote {many(done.written, 'file')} below {out}, {done.unchanged:,} unchanged, {done.removed:,} removed")
    return _incomplete(left_out, options.dir)


def _say_left_out(store: ViewStore, options: argparse.Namespace) -> None:
    """How many pages stay away because they were read with the user's login."""
    if not options.with_login and (count := views.pages_with_login(store)):
        say(f"{many(count, 'page')} read with your login left out: --with-login includes them")


def _files(
    options: argparse.Namespace, folder: Folder, store: Store, left_out: export.LeftOut, before: ExportFolder
) -> Iterator[FolderFile]:
    about = (folder, store, left_out, options.with_login)
    urls = pattern(options.urls) if options.urls else None
    if options.format == "markdown":
        known = before.keys()
        return markdown.files(ahead(markdown.pages(*about), left_out, lambda page: page.key not in known))
    if options.format == "site":
        return mirror(*about)
    if options.format == "single":
        return singles(*about, urls)
    return printed(*about, urls, options.browser_sandbox)


def _database(options: argparse.Namespace) -> int:
    out: Path = options.output
    if str(out) == "-" or (out.exists() and not out.is_file()):
        raise UsageError("a database is written to a file; name one with -o")
    if out.exists() and not options.force:
        raise UsageError(f"{out} exists; choose another name or add --force")
    part = out.with_name(f"{out.name}.part")
    with reading(options.dir) as (folder, store):
        check_place(out, folder)
        part.unlink(missing_ok=True)
        try:
            DATABASES[options.format](part, store, options.with_login)
            part.replace(out)
            _say_left_out(store, options)
        finally:
            part.unlink(missing_ok=True)
    say(f"wrote {size(out.stat().st_size)}")
    return 0


def _chunks(options: argparse.Namespace, folder: Folder, store: Store, left_out: export.LeftOut) -> Iterator[bytes]:
    now = clock.now()
    chosen = archive_export.RecordChoice(
        options.with_login,
        moment(options.since, now) if options.since else 0.0,
        moment(options.until, now) if options.until else math.inf,
        pattern(options.urls) if options.urls else None,
    )
    if options.sign and options.format != "wacz":
        raise UsageError("--sign is for --format wacz")
    if options.format in ARCHIVES:
        if options.sign:
            return wacz(folder, store, left_out, chosen, _signer(folder))
        return ARCHIVES[options.format](folder, store, left_out, chosen)
    if options.since or options.until or options.urls:
        raise UsageError(
            "--since, --until and --urls are for --format warc, wacz and cdxj; --urls also for single and pdf"
        )
    if options.table and options.format not in TABLE_FORMATS:
        raise UsageError("--table is for --format csv and parquet")
    if options.table:
        return TABLE_FORMATS[options.format](store, options.table, options.with_login)
    if options.format not in FORMATS:
        raise UsageError(f"name a table with --table: {', '.join(TABLES)}, or an extractor")
    return FORMATS[options.format](folder, store, left_out, options.with_login)


def _signer(folder: Folder) -> Sign:
    """The key of a crawl is made with its first export that is signed."""
    if not folder.signing_key.exists():
        write_whole(folder.signing_key, Sign.new_key(), mode=PRIVATE)
    return Sign(folder.signing_key.read_bytes())


def _incomplete(left_out: export.LeftOut, folder: Path) -> int:
    """Says what could not be read; the exit code."""
    if not left_out.count:
        return 0
    say(
        f"left out {left_out.count:,} that cannot be read, the first: {harmless(left_out.first)}; "
        f"`sanderling check {folder} --deep` lists all, and --repair has them fetched again"
    )
    return 1
