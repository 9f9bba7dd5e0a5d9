"""Which parser of HTML is used: the choice of the user for the folder that is open.

It is not in `tree.py`, because who opens a folder need not load a parser.
"""

from contextvars import ContextVar
from importlib.util import find_spec
from typing import Final

from sanderling.errors import UsageError

TURBOHTML: Final = "turbohtml"
LEXBOR: Final = "lexbor"
# In each thread, that of the folder which it opened last: `sanderling serve` has many.
_CHOSEN: ContextVar[str] = ContextVar("parser", default=TURBOHTML)


def choose(parser: str) -> None:
    """From here on this thread parses HTML so."""
    if parser == LEXBOR and find_spec("selectolax") is None:
        raise UsageError("html_parser = lexbor needs `pip install 'sanderling[lexbor]'`")
    _CHOSEN.set(parser)


def chosen() -> str:
    return _CHOSEN.get()
