"""`sanderling lab`: experiments that anyone can repeat; each decides something about how Sanderling
works."""

import argparse
from importlib import import_module

from sanderling.presenting.arguments import Parser

EXPERIMENTS = {
    "ordering": "which order of visits fetches important pages first",
    "change-codes": "what each method of change detection misses, and what it costs",
    "focus": "how soon a focused crawl finds the pages of a topic",
    "cutting": "what focused crawls save and lose when they cut pages short",
    "updated": "how many pages of a site are updated on a day",
    "watcher": "what a report of the changed pages is worth to a crawler",
    "liars": "what it costs when a source of notices lies or dies",
    "ajax": "how much content behind clicks and scrolling is found",
    "freshness": "how fresh each revisit policy keeps a collection",
    "forms": "how many records behind a form each choice of words reaches",
    "migrating": "what more machines save in time, repeats and data",
    "teams": "what teams lose by repeated downloads and by messages",
}


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    listed = "\n".join(f"  {name:14}{summary}" for name, summary in EXPERIMENTS.items())
    parser = commands.add_parser(
        "lab",
        description=f"Repeats the experiments behind the defaults:\n\n{listed}\n\nEach has its own --help.",
    )  # fmt: skip
    parser.add_argument("experiment", choices=list(EXPERIMENTS), metavar="experiment", help="which one")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    parser = experiment_parser(options.experiment)
    chosen = parser.parse_args(options.arguments)
    return int(chosen.run(chosen))


def experiment_parser(name: str) -> argparse.ArgumentParser:
    """The command line of an experiment. It is imported only now: no other command waits for its
    libraries."""
    experiment = import_module(f"sanderling.lab.{name.replace('-', '_')}")
    about = (experiment.__doc__ or "").partition(": ")[2]
    parser = Parser(prog=f"sanderling lab {name}", description=about[:1].upper() + about[1:])
    experiment.add_arguments(parser)
    parser.set_defaults(run=experiment.run)
    return parser
