"""Parses the arguments of commands. Each error is one sentence."""

import argparse
import re
import textwrap
from pathlib import Path
from typing import Any, NoReturn

from sanderling.errors import UsageError
from sanderling.urls import SEEDABLE, hostname, origin, with_fragment

_MOST = 2**31 - 1


class Prose(argparse.HelpFormatter):
    """Wraps paragraphs at the width of the terminal. Indented text (lists and examples) stays as it
    is."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = text.strip().split("\n\n")
        return "\n\n".join(
            each if re.search("^ ", each, re.MULTILINE) else textwrap.fill(each, width) for each in paragraphs
        )


class Parser(argparse.ArgumentParser):
    """Reports errors in one sentence, without the usage text that argparse prints before it."""

    def __init__(self, **given: Any) -> None:
        super().__init__(formatter_class=Prose, **given)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see `{self.prog} --help`")


def count(text: str) -> int:
    return _whole(text, 0, _MOST, "a whole number, 0 or more")


def positive(text: str) -> int:
    return _whole(text, 1, _MOST, "a whole number, 1 or more")


def port(text: str) -> int:
    return _whole(text, 0, 65_535, "a port: a whole number from 0 to 65535")


def share(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return found


def host(text: str) -> str:
    """A host name with or without a port. A whole URL is accepted too; its host counts."""
    url = with_fragment(text if "://" in text else f"http://{text}", SEEDABLE)
    if url is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a host name such as example.org")
    place = origin(url).partition("://")[2]
    return place if re.search(r":\d+$", place) else hostname(url)


def pathname(text: str) -> Path:
    """A path. An empty one is an error: it is usually an unset shell variable, and would mean the
    current folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the path is empty")
    return Path(text)


def _whole(text: str, least: int, most: int, what: str) -> int:
    if not (text.isdecimal() and len(text) < 20 and least <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return int(text)
