"""Items: what extractors return, as plain values that JSON can hold, checked against their
types."""

import dataclasses
import json
import math
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import msgspec

# Limits for what one extractor returns for one page.
LARGEST = 256 * 1024
DEEPEST = 32

Item = dict[str, Any]


class _Size:
    """Counts what is taken, so that a gigabyte is refused before it is written as JSON."""

    def __init__(self) -> None:
        self.left = LARGEST

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise ValueError(f"it returned more than {LARGEST // 1024} KiB of JSON")


class Items:
    """Takes the items of one extractor for one page."""

    def __init__(self, kind: type | None, key: tuple[str, ...]) -> None:
        """`kind` is the type that all of them have to be of; items of the same `key` are one."""
        self._kind = kind
        self._key = key
        self._size = _Size()
        self._seen: set[str] = set()
        self.found: list[Item] = []

    @property
    def full(self) -> bool:
        """Whether there is no room for more."""
        return self._size.left < 0

    def take(self, value: Any) -> None:
        """Takes one item. TypeError and ValueError say what is wrong with it."""
        item = self._checked(value)
        for name in self._key:
            if item.get(name) is None:
                raise ValueError(f"an item has no {name!r}, which is its key")
        if self._key:
            key = json.dumps([item[name] for name in self._key])
            if key in self._seen:
                return
            self._seen.add(key)
        self.found.append(item)

    def _checked(self, value: Any) -> Item:
        kind = self._kind or (type(value) if _is_typed(value) else None)
        plain = _plain(value, DEEPEST, self._size)
        if not isinstance(plain, dict):
            raise TypeError(f"it returned {type(value).__name__} instead of an item such as a dict or a dataclass")
        if kind is None:
            return plain
        if hasattr(kind, "model_validate"):  # of pydantic
            made = kind.model_validate(plain if isinstance(value, Mapping) else value)
        else:
            made = msgspec.convert(plain, kind)
        checked: Item = _plain(made, DEEPEST, _Size())
        return checked


def _is_typed(value: Any) -> bool:
    return isinstance(value, msgspec.Struct) or dataclasses.is_dataclass(value)


def _plain(value: Any, levels: int, size: _Size) -> Any:
    """A value as JSON can hold it, and other programs can read it, such as the search index."""
    if not levels:
        raise ValueError(f"it returned data nested more than {DEEPEST} levels deep")
    size.take(2)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _plain(value.value, levels, size)
    if isinstance(value, str):
        # Lone surrogates cannot be stored.
        text = value if value.isascii() else value.encode("utf-8", "replace").decode()
        size.take(len(text) if value.isascii() else len(text.encode()))
        return text
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise ValueError("it returned an integer of more than 64 bits")
        return int(value)
    if isinstance(value, float | Decimal):
        if not math.isfinite(value):
            raise ValueError(f"it returned {value}, which JSON cannot hold")
        return float(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(each, levels - 1, size) for each in value]
    if isinstance(value, Mapping):
        return {_name(name, size): _plain(each, levels - 1, size) for name, each in value.items()}
    if isinstance(value, msgspec.Struct):
        values = msgspec.structs.astuple(value)
        return _plain(dict(zip(value.__struct_encode_fields__, values, strict=True)), levels, size)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain({each.name: getattr(value, each.name) for each in dataclasses.fields(value)}, levels, size)
    if hasattr(value, "model_dump"):  # of pydantic
        return _plain(value.model_dump(), levels, size)
    raise TypeError(f"it returned {type(value).__name__}, which JSON cannot hold")


def _name(name: Any, size: _Size) -> str:
    if not isinstance(name, str):
        raise TypeError(f"it returned a dict with the key {str(name)[:40]!r}: keys must be texts")
    size.take(len(name) + 2)
    return name.encode("utf-8", "replace").decode()
