"""What sites say about the events of their pages, for the visits to them. It only helps: it may be
lost."""

from collections import OrderedDict
from collections.abc import Iterable

from sanderling.model import HintedEvent, NamedPage, Task

MOST_PAGES = 10_000


class EventHints:
    """The events of the pages that were named last."""

    def __init__(self) -> None:
        self._of: OrderedDict[int, tuple[HintedEvent, ...]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._of)

    def hear(self, pages: Iterable[NamedPage]) -> None:
        for page in pages:
            self._of.pop(page.id, None)  # what was said before is out of date
            if page.events:
                self._of[page.id] = page.events
        while len(self._of) > MOST_PAGES:
            self._of.popitem(last=False)

    def give(self, tasks: list[Task]) -> list[Task]:
        """Tasks with the events of their pages."""
        return [task._replace(events=self._of.get(task.id, ())) for task in tasks]
