"""Rows that are read while a program loops over them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import islice
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)

# An asynchronous loop reads as many at a time in a thread.
AT_ONCE = 100


class ReadSoFar(Protocol[T_contra]):
    """Remembers how far a program is."""

    def end(self, row: T_contra) -> None:
        """The program is done with a row."""

    def note(self) -> None:
        """The program stops."""


class Stream(Generic[T]):
    """Rows for `for` and for `async for`. Each loop starts at the beginning."""

    def __init__(self, begin: Callable[[], Iterator[T]], remembered: Callable[[], ReadSoFar[T]] | None = None) -> None:
        self._begin = begin
        self._remembered = remembered

    def __iter__(self) -> Iterator[T]:
        position = self._remembered() if self._remembered is not None else None
        try:
            for row in self._begin():
                yield row
                if position is not None:
                    position.end(row)
        finally:
            if position is not None:
                position.note()

    async def __aiter__(self) -> AsyncIterator[T]:
        position = self._remembered() if self._remembered is not None else None
        rows = await asyncio.to_thread(self._begin)
        try:
            while some := await asyncio.to_thread(lambda: list(islice(rows, AT_ONCE))):
                for row in some:
                    yield row
                    if position is not None:
                        position.end(row)
        finally:
            if position is not None:
                position.note()
