"""A store that several threads read."""

import threading
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from sanderling.errors import UsageError
from sanderling.repository.store import Store

P = ParamSpec("P")
T = TypeVar("T")


class SharedStore:
    """Answers one question at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._closed = False

    def ask(self, question: Callable[Concatenate[Store, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            if self._closed:
                raise UsageError("this folder was closed: open it again with sanderling.open()")
            return question(self._store, *args, **kwargs)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._store.close()
