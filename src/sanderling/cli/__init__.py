"""The command line: progress to standard error, results to standard output, one sentence for every
mistake.

Exit codes: 0 done, 1 a run that failed, 2 wrong usage, 130 stopped by Ctrl-C, 143 by SIGTERM.
"""

import argparse
import difflib
import errno
import io
import os
import sqlite3
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module

from sanderling import __version__
from sanderling.errors import SanderlingError, UsageError
from sanderling.presenting.arguments import Parser
from sanderling.presenting.screen import harmless, say
from sanderling.processes.memory_limit import MUCH_MEMORY, lift_memory_limit, limit_memory

_ABOUT = """Sanderling keeps a versioned copy of part of the web and revisits what has probably changed.

Each crawl has its own folder. Start with:

  sanderling crawl https://example.org/ -d example
  sanderling status example
  sanderling pages example
  sanderling search example 'some words'
"""


# A module each, in the order that `--help` lists them.
GROUPS = {
    "Crawl and keep fresh": {
        "crawl": "crawl sites into a folder, or resume",
        "refresh": "revisit what has probably changed",
        "freshness": "show how fresh the copy is and what a budget keeps fresh",
        "control": "pause, resume, stop or change a running crawl, visit URLs now",
        "join": "add a client to a running crawl",
        "topic": "make the model of a topic from examples",
        "browser": "show or install the browser that renders pages",
    },
    "Look at a crawl": {
        "serve": "start the dashboard and the HTTP API",
        "mcp": "let language models search and read crawls",
        "read": "print one page of the web as Markdown, now",
        "status": "show the progress of a crawl",
        "search": "find pages by their words",
        "pages": "list visited URLs",
        "links": "list the links to a URL or from a page",
        "broken": "list broken links and the pages they are on",
        "forms": "list forms and what was sent",
        "duplicates": "list near-duplicates and mirrors",
    },
    "See what changed": {
        "watch": "watch single pages, each at its own interval",
        "changes": "list what changed, newest first",
        "history": "list the versions of a page",
        "diff": "show what differs between two versions",
        "blame": "show when each paragraph of a page appeared",
        "feed": "write the changes as an Atom feed",
        "digest": "summarise the changes of each site, for a mail",
        "notify": "show and test notifications by mail and chat",
        "webhooks": "show and test the deliveries to webhooks",
    },
    "Use and repair the data": {
        "export": "write pages, links or archives to a file",
        "sql": "answer questions about a crawl in SQL",
        "shell": "try selectors on a page, in Python",
        "new": "begin a project with an extractor and its test",
        "extract": "run extractors on stored pages",
        "reindex": "rebuild the search index",
        "check": "check archives, database and index",
        "prune": "remove versions that are not kept",
        "recover": "rebuild a lost database from the archives",
        "import": "take in web archives of other programs",
    },
    "Many machines": {"cluster": "make machines part of a cluster"},
    "Beside a web site": {"announce": "publish which pages of a site changed"},
    "Experiments": {"lab": "repeat the experiments behind the defaults"},
}
# Names that are words of the language.
MODULES = {"import": "importing"}
COMMANDS = tuple(name for group in GROUPS.values() for name in group)

# No room, or a disk that fails: nothing that a traceback would explain.
_CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

# Characters of a complaint; the rest of what somebody typed says nothing more.
_LONGEST = 800
# These parse no page of strangers, or have clients for it, and hold as much as a crawl is large, or
# run commands of the user.
_UNLIMITED = ("announce", "crawl", "refresh", "freshness", "check", "prune", "cluster", "lab")


def parser(command: str) -> argparse.ArgumentParser:
    """The parser of one command. The others are not imported."""
    top = Parser(prog="sanderling")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    import_module(f"sanderling.cli.{MODULES.get(command, command)}").add(commands)
    return top


class _Version(argparse.Action):
    """Prints the version, and which reader of pages runs."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from sanderling.documents.native import READER

        print(f"sanderling {__version__} ({READER})")
        parser.exit()


def overview() -> argparse.ArgumentParser:
    """The parser without a command. Its help lists them."""
    listed = "\n\n".join(
        f"{title}:\n" + "\n".join(f"  {name:<12}{what}" for name, what in group.items())
        for title, group in GROUPS.items()
    )
    each = "Each command has its own --help."
    top = Parser(prog="sanderling", usage="sanderling COMMAND ...", description=f"{_ABOUT}\n{listed}\n\n{each}")
    top.add_argument("--version", action=_Version, nargs=0)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    # numpy's threads wait by spinning, and what is multiplied here is too small for them; processes
    # that are started inherit it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _steady_streams()
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given:
        overview().print_help(sys.stderr)
        return 2
    return guarded(lambda: _follow(given))


def _follow(given: list[str]) -> int:
    """Does what was typed."""
    if given[0].startswith("-"):
        overview().parse_known_args(given[:1])  # ends with what --help or --version print
        raise UsageError(f"{given[0]!r} is no command; see `sanderling --help`")
    if given[0] not in COMMANDS:
        raise UsageError(f"there is no command {given[0]!r}{_meant(given[0], COMMANDS)}; see `sanderling --help`")
    top = parser(given[0])
    options, unknown = top.parse_known_args(given)
    if unknown:
        hint = _meant(unknown[0].partition("=")[0], _flags(top, given[0]))
        raise UsageError(f"{given[0]} does not take {unknown[0]!r}{hint}; see `sanderling {given[0]} --help`")
    lift_memory_limit()
    if given[0] not in _UNLIMITED:
        limit_memory(MUCH_MEMORY)
    code: int = options.run(options)
    sys.stdout.flush()
    return code


def guarded(run: Callable[[], int]) -> int:
    """The exit code of a command. What the user can mend is said in one sentence."""
    try:
        return run()
    except UsageError as error:
        return _complain(str(error), 2)
    except SanderlingError as error:
        return _complain(str(error), 1)
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python must not complain about it on the way out.
        _drop_output()
        return 0
    except OSError as error:
        if error.filename:
            return _complain(f"{error.filename}: {error.strerror}", 1)
        if error.errno in _CANNOT_WRITE:
            _drop_output()
            return _complain(f"the output could not be written: {error.strerror}", 1)
        raise
    except sqlite3.DatabaseError as error:
        if type(error) is not sqlite3.DatabaseError:  # its children are mistakes of ours
            raise
        return _complain(f"the database of this crawl is damaged: {error}", 1)
    except MemoryError:
        return _complain("this needs more memory than the process may take", 1)
    except KeyboardInterrupt:
        return 130


def _meant(typed: str, known: Iterable[str]) -> str:
    """A suggestion for something mistyped, or nothing."""
    near = difflib.get_close_matches(typed, list(known), 1, cutoff=0.7)
    return f"; did you mean {near[0]}?" if near else ""


def _flags(top: argparse.ArgumentParser, command: str) -> list[str]:
    """The options of a command."""
    (commands,) = (each for each in top._actions if isinstance(each, argparse._SubParsersAction))
    return list(commands.choices[command]._option_string_actions)


def _steady_streams() -> None:
    """A stream that was closed leads nowhere: else the next file that is opened gets its number,
    and what is written to it. A terminal that lacks a character shows its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.dup2(nowhere := os.open(os.devnull, os.O_RDWR), number)
            if nowhere != number:
                os.close(nowhere)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(sentence: str, code: int) -> int:
    """One line, whatever was typed: what it quotes can neither flood a terminal nor command it."""
    if len(sentence) > _LONGEST:
        sentence = f"{sentence[: _LONGEST // 2]} ... {sentence[-_LONGEST // 2 :]}"
    say(harmless(sentence))
    return code


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
