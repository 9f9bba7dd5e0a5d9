"""States that were found behind a page, until they are asked for. They are URLs like any other, and
their turn comes soon."""

import copy
from collections import OrderedDict

from sanderling.client.fetcher import Rendered, Response

# Together, in bytes. A state that does not fit is reached again by its events.
ROOM = 64 << 20


class StateCache:
    """The states that were found last, up to a size."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._size = 0
        self._kept: OrderedDict[str, tuple[Rendered, Response]] = OrderedDict()

    def add(self, url: str, state: Rendered, document: Response) -> None:
        self._drop(url)
        self._kept[url] = state, document
        self._size += _size(state)
        while self._size > self._room:
            self._drop(next(iter(self._kept)))

    def take(self, url: str) -> Response | None:
        """The response for the URL of a state, if it is here. It is given once: the next visit
        looks for itself."""
        if url not in self._kept:
            return None
        state, document = self._kept[url]
        self._drop(url)
        response = copy.copy(document)
        response.rendered, response.sent, response.seconds = state, b"", 0.0
        return response

    def _drop(self, url: str) -> None:
        found = self._kept.pop(url, None)
        if found is not None:
            self._size -= _size(found[0])


def _size(state: Rendered) -> int:
    return len(state.html) + len(state.screenshot)
