"""Experiments that measure how good the algorithms are. Nothing in a crawl depends on them, and
the package that is installed does not have them. `sanderling lab` runs them in a checkout."""

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
    "liars": "what it costs when a source of hints lies or dies",
    "ajax": "how much content behind clicks and scrolling is found",
    "freshness": "how fresh each revisit policy keeps a collection",
    "forms": "how many records behind a form each choice of words reaches",
    "migrating": "what more machines save in time, repeats and data",
    "teams": "what teams lose by repeated downloads and by messages",
    "shards": "what many servers that share a web cost in messages",
}


def experiment_parser(name: str) -> argparse.ArgumentParser:
    """The command line of an experiment. It is imported only now: no other waits for its
    libraries."""
    experiment = import_module(f"lab.{name.replace('-', '_')}")
    about = (experiment.__doc__ or "").partition(": ")[2]
    parser = Parser(prog=f"sanderling lab {name}", description=about[:1].upper() + about[1:])
    experiment.add_arguments(parser)
    parser.set_defaults(run=experiment.run)
    return parser
