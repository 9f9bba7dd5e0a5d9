"""Forms for settings: the typed values, their errors, and the equivalent command."""

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sanderling.errors import BadSeed, BadSetting
from sanderling.repository import address
from sanderling.server.frontier.scope import Scope, canonical_seed
from sanderling.settings import CHOICES, DECLARED, Declared, Settings, overlay
from sanderling.urls import hostname

_BY_NAME = {each.name: each for each in DECLARED}
# Settings that contain secrets. They belong in files and are not shown.
SECRET = ("store", "webhook", "notify", "watch", "login")
# The meaning of an empty field. For all others it is "no limit".
_UNSET = {
    "delay": "adapts to the server",
    "contact": "none",
    "proxy": "none",
    "topic": "none",
    "keep_fresh": "2000/h",
    "quiet": "22:00-06:30",
}
# Where a form takes less than the command line does: it names no files.
_HELP = {"topic": "keep to a topic that some words name"}
_WRITTEN = {"duration": "90s or 2h", "size": "64MiB"}


class SettingField(NamedTuple):
    """One setting in a form."""

    declared: Declared
    typed: str
    wrong: str

    @property
    def name(self) -> str:
        return self.declared.name

    @property
    def label(self) -> str:
        return label(self.name)

    @property
    def help(self) -> str:
        """The help of the setting in the words of the form: other settings by their labels, nothing
        about flags."""
        text = _HELP.get(self.name, self.declared.help).replace("; repeatable)", ")").replace(" (repeatable)", "")
        return re.sub(r"\b[a-z]+_[a-z_]+\b", lambda found: f"“{label(found[0])}”", text)

    @property
    def default(self) -> str:
        return typed_without_password(self.name, getattr(Settings(), self.name)) or _UNSET.get(self.name, "no limit")

    @property
    def example(self) -> str:
        """An example value, for a setting without a default."""
        return (
            ""
            if typed_without_password(self.name, getattr(Settings(), self.name))
            else _WRITTEN.get(self.declared.unit, "")
        )

    @property
    def choices(self) -> tuple[str, ...]:
        return CHOICES.get(self.name, ())


class FormInput(NamedTuple):
    """The content of the form for a new crawl."""

    name: str
    seeds: list[str]
    chosen: dict[str, object]
    wrong: dict[str, str]

    @property
    def command(self) -> str:
        return command(self.name, self.seeds, self.chosen)


def read(form: Mapping[str, str], offered: Iterable[str]) -> FormInput:
    """Reads the form. Errors are stored by the name of their field."""
    wrong: dict[str, str] = {}
    seeds = _lines(form.get("seeds", ""))
    starts = []
    for seed in seeds:
        try:
            starts.append(canonical_seed(seed))
        except BadSeed as error:
            wrong.setdefault("seeds", str(error))
    if not seeds:
        wrong["seeds"] = "give at least one address to start from, such as https://example.org/"
    values, mistakes = read_settings(form, offered)
    chosen = {name: value for name, value in values.items() if value != _default(name)}
    return FormInput(form.get("name", "").strip() or folder_name(starts), seeds, chosen, wrong | mistakes)


def read_settings(form: Mapping[str, str], names: Iterable[str]) -> tuple[dict[str, object], dict[str, str]]:
    """The typed settings of a form, with the default for an empty field, and errors by field."""
    values: dict[str, object] = {}
    wrong: dict[str, str] = {}
    for name in names:
        try:
            value = _typed(_BY_NAME[name], form)
            settings = overlay(Settings(), {name: value}) if value != _default(name) else Settings()
            if name in ("include", "exclude"):
                Scope([], settings)
            values[name] = _default(name) if getattr(settings, name) == _default(name) else value
        except BadSetting as error:
            wrong[name] = f"{label(name)}: {str(error).removeprefix(f'{name} = ')}"
    return values, wrong


def fields(form: Mapping[str, str], wrong: Mapping[str, str], names: Iterable[str]) -> dict[str, SettingField]:
    """Every field with its typed value."""
    return {name: SettingField(_BY_NAME[name], form.get(name, _preset(name)), wrong.get(name, "")) for name in names}


def filled(settings: Settings, names: Iterable[str]) -> dict[str, str]:
    """The form values of these settings."""
    return {
        name: as_typed(name, getattr(settings, name)) for name in names if getattr(settings, name) != _default(name)
    }


def command(name: str, seeds: list[str], chosen: Mapping[str, object]) -> str:
    """The command that starts the same crawl."""
    words = ["sanderling", "crawl", *seeds, "-d", name or "FOLDER"]
    for setting, value in chosen.items():
        flag = "--" + setting.replace("_", "-")
        if _BY_NAME[setting].unit == "flag":
            words.append(flag if value else flag.replace("--", "--no-", 1))
        elif isinstance(value, list | tuple):
            words += [word for one in value for word in (flag, str(one))]
        else:
            words += [flag, typed_without_password(setting, value)]
    return shlex.join(words)


def folder_name(seeds: list[str]) -> str:
    """A name for a crawl, made from its first seed."""
    if not seeds:
        return ""
    return re.sub(r"[^a-z0-9.-]+", "-", hostname(seeds[0]).lower()).strip(".-")[:60] or "crawl"


def label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def typed_without_password(name: str, value: object) -> str:
    """A value as a user would type it, without passwords."""
    if name == "proxy" and isinstance(value, str):
        return address.without_password(value) or ""
    return as_typed(name, value)


def as_typed(name: str, value: object) -> str:
    unit = _BY_NAME[name].unit
    if value is None or value in ((), ""):
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if unit == "duration" and isinstance(value, float):
        return f"{value:g}s"
    if unit == "size" and isinstance(value, int) and value % (1 << 20) == 0:
        return f"{value >> 20}MiB"
    return "\n".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _default(name: str) -> object:
    return getattr(Settings(), name)


def _typed(each: Declared, form: Mapping[str, str]) -> object:
    text = form.get(each.name, "").strip()
    if each.unit == "flag":
        return bool(text)
    if not text:
        return _default(each.name)
    return tuple(_lines(text)) if each.unit == "list" else text


def _preset(name: str) -> str:
    return as_typed(name, _default(name)) if _BY_NAME[name].unit in ("flag", "choice") else ""


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
