"""The form that starts a crawl: what was typed, what is wrong with it, and the command that does the same."""

import re
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from sanderling.errors import BadSeed, BadSetting
from sanderling.server.dispatcher import Scope, canonical_seed
from sanderling.settings import CHOICES, DECLARED, Declared, Settings, overlay, read_value
from sanderling.urls import hostname

# Tables of rules, and what has secrets in it (the address of a database, webhooks), belong into files and not into forms.
SECRET = ("store", "webhook")
OFFERED = [each for each in DECLARED if each.name not in ("rules", *SECRET)]
# What most people set; the rest is folded away.
FIRST = ("scope", "max_pages", "max_depth", "max_time", "order", "delay", "allow_private", "contact")
# Patterns may contain anything but a line break.
_LINES = re.compile(r"\r\n|\r|\n")


class Field(NamedTuple):
    """One setting as the form shows it."""

    declared: Declared
    typed: str
    wrong: str

    @property
    def name(self) -> str:
        return self.declared.name

    @property
    def label(self) -> str:
        return self.declared.name.replace("_", " ").capitalize()

    @property
    def default(self) -> str:
        return shown(self.name, getattr(Settings(), self.name))

    @property
    def choices(self) -> tuple[str, ...]:
        return CHOICES.get(self.name, ())


class Asked(NamedTuple):
    """A form that was sent, or is about to be."""

    name: str
    seeds: list[str]
    chosen: dict[str, object]
    wrong: dict[str, str]

    @property
    def command(self) -> str:
        return command(self.name, self.seeds, self.chosen)


def read(form: Mapping[str, str]) -> Asked:
    """What a form asks for; whatever does not fit is said beside its field."""
    wrong: dict[str, str] = {}
    seeds = _lines(form.get("seeds", ""))
    canonical = []
    for seed in seeds:
        try:
            canonical.append(canonical_seed(seed))
        except BadSeed as error:
            wrong.setdefault("seeds", str(error))
    if not seeds:
        wrong["seeds"] = "name at least one address to start at, such as https://example.org/"
    chosen: dict[str, object] = {}
    for each in OFFERED:
        try:
            value = _typed(each, form)
            if value is not None and read_value(each.name, value) != getattr(Settings(), each.name):
                chosen[each.name] = value
        except BadSetting as error:
            wrong[each.name] = str(error)
    for name in ("include", "exclude"):
        try:
            Scope([], overlay(Settings(), {name: chosen.get(name, ())}))
        except BadSetting as error:
            wrong[name] = str(error)
    return Asked(form.get("name", "").strip() or folder_name(canonical), seeds, chosen, wrong)


def fields(form: Mapping[str, str], wrong: Mapping[str, str]) -> dict[str, Field]:
    """Every field with what was typed into it."""
    return {each.name: Field(each, form.get(each.name, _preset(each)), wrong.get(each.name, "")) for each in OFFERED}


def command(name: str, seeds: list[str], chosen: Mapping[str, object]) -> str:
    """The same crawl from the command line."""
    words = ["sanderling", "crawl", *seeds, "-d", name or "FOLDER"]
    for each in OFFERED:
        if each.name not in chosen:
            continue
        flag = "--" + each.name.replace("_", "-")
        value = chosen[each.name]
        if each.unit == "flag":
            words.append(flag if value else flag.replace("--", "--no-", 1))
        elif isinstance(value, list | tuple):
            words += [word for one in value for word in (flag, str(one))]
        else:
            words += [flag, shown(each.name, value)]
    return shlex.join(words)


def folder_name(seeds: list[str]) -> str:
    """A name for a crawl, from where it starts."""
    if not seeds:
        return ""
    return re.sub(r"[^a-z0-9.-]+", "-", hostname(seeds[0]).lower()).strip(".-")[:60] or "crawl"


def _typed(each: Declared, form: Mapping[str, str]) -> object | None:
    text = form.get(each.name, "").strip()
    if each.unit == "flag":
        return bool(text)
    if not text:
        return None
    return _lines(text) if each.unit == "list" else text


def _preset(each: Declared) -> str:
    default = getattr(Settings(), each.name)
    return ("yes" if default else "") if each.unit == "flag" else str(default) if each.unit == "choice" else ""


def _lines(text: str) -> list[str]:
    return [line.strip() for line in _LINES.split(text) if line.strip()]


_UNITS = {each.name: each.unit for each in DECLARED}


def shown(name: str, value: object) -> str:
    """A value as one would type it; what was typed stays as it is."""
    if value is None or value in ((), ""):
        return ""
    if _UNITS[name] == "duration" and isinstance(value, float):
        return f"{value:g}s"
    if _UNITS[name] == "size" and isinstance(value, int) and value % (1 << 20) == 0:
        return f"{value >> 20}MiB"
    return str(value)
