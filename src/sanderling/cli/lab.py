"""`sanderling lab`: experiments that anyone can repeat; each decides something about how Sanderling
works. They are in the folder `lab/` of the source tree, not in the package."""

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import sanderling
from sanderling.errors import UsageError

CHECKOUT = Path(sanderling.__file__).resolve().parents[2]

HOW = """The experiments are not part of the package that is installed here. They are in the folder lab/ of
the source of Sanderling. In a copy of the source:

  python -m pip install -e '.[lab]'
  sanderling lab --help"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("lab", description=_description())
    parser.add_argument("experiment", metavar="experiment", help="which one")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    lab = _lab()
    if lab is None:
        raise UsageError(
            "the experiments are in the source of Sanderling, not in the package; see `sanderling lab --help`"
        )
    if options.experiment not in lab.EXPERIMENTS:
        raise UsageError(f"there is no experiment {options.experiment!r}: choose from {', '.join(lab.EXPERIMENTS)}")
    chosen = lab.experiment_parser(options.experiment).parse_args(options.arguments)
    return int(chosen.run(chosen))


def _description() -> str:
    lab = _lab()
    if lab is None:
        return f"Repeats the experiments behind the defaults.\n\n{HOW}"
    listed = "\n".join(f"  {name:14}{summary}" for name, summary in lab.EXPERIMENTS.items())
    return f"Repeats the experiments behind the defaults:\n\n{listed}\n\nEach has its own --help."


def _lab() -> Any:
    """The package of experiments of the checkout that this is, if it is one."""
    if not (CHECKOUT / "lab" / "ordering.py").exists():
        return None
    if str(CHECKOUT) not in sys.path:
        sys.path.insert(0, str(CHECKOUT))
    return import_module("lab")
