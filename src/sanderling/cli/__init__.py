"""The command line: progress to standard error, results to standard output, one sentence for every mistake.

Exit codes: 0 done, 1 a run that failed, 2 wrong usage.
"""

import argparse
import os
import sqlite3
import sys
from collections.abc import Sequence
from importlib import import_module

from sanderling import __version__
from sanderling.errors import SanderlingError, UsageError

_ABOUT = """Sanderling keeps a versioned copy of a part of the web fresh at the least cost.

A crawl lives in one folder. Start with:

  sanderling crawl https://example.org/ -d example
  sanderling status example
  sanderling pages example
  sanderling search example 'some words'
"""


# A module each, in the order that `--help` lists them.
COMMANDS = (
    "crawl", "refresh", "freshness", "status", "pages", "links", "duplicates", "search", "changes", "feed", "digest", "webhooks",
    "history", "diff", "blame", "export", "reindex", "join", "control", "serve", "lab",
)  # fmt: skip


def parser(named: str = "") -> argparse.ArgumentParser:
    """With the command that is named, or else with all of them: nobody waits for the imports of the others."""
    top = argparse.ArgumentParser(
        prog="sanderling", description=_ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("--version", action="version", version=f"sanderling {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in [named] if named in COMMANDS else COMMANDS:
        import_module(f"sanderling.cli.{name}").add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    # numpy's threads wait by spinning, and what is multiplied here is too small for them; processes that are started inherit it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given:
        parser().print_help(sys.stderr)
        return 2
    options = parser(given[0]).parse_args(given)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
        return code
    except UsageError as error:
        sys.stderr.write(f"sanderling: {error}\n")
        return 2
    except SanderlingError as error:
        sys.stderr.write(f"sanderling: {error}\n")
        return 1
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python must not complain about it on the way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if not error.filename:
            raise
        sys.stderr.write(f"sanderling: {error.filename}: {error.strerror}\n")
        return 1
    except sqlite3.DatabaseError as error:
        if type(error) is not sqlite3.DatabaseError:  # its children are mistakes of ours
            raise
        sys.stderr.write(f"sanderling: the database of this crawl is damaged: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
