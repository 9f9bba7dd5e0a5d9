"""Writes pages as Markdown in several processes, some pages ahead of whoever takes them."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Final

from sanderling.documents.markdown_apart import Source, ask, child
from sanderling.presenting.markdown import MarkdownPage
from sanderling.processes.sandboxed import ChildFailed, SandboxedChild
from sanderling.repository.export import LeftOut

# So many pages take less time here than processes take to start.
ALONE: Final = 150
# Pages and bytes that a process is given at once. Twice as many as there are processes are in
# memory.
_TOGETHER, _MOST_BYTES = 16, 1 << 20

Texts = list[str | ChildFailed]


def ahead(
    pages: Iterable[MarkdownPage],
    left_out: LeftOut,
    wanted: Callable[[MarkdownPage], bool] = lambda page: True,
    processes: int = 0,
    alone: int = ALONE,
) -> Iterator[MarkdownPage]:
    """The same pages in the same order. The texts of those that are wanted are made when they come.

    Pages that make a process fail are left out.
    """
    rest = iter(pages)
    processes = processes or os.cpu_count() or 1
    for page in rest if processes < 2 else ():
        yield page
    for page in rest if alone else ():
        yield page
        alone -= wanted(page)
        if not alone:
            break
    with ExitStack() as stack:
        idle = [stack.enter_context(child()) for _ in range(processes)]
        pool = stack.enter_context(ThreadPoolExecutor(processes))
        waiting: deque[tuple[list[MarkdownPage], dict[int, Source | None], Future[Texts]]] = deque()
        try:
            for batch, sources in _batches(rest, wanted):
                asked = [each for each in sources.values() if each is not None]
                waiting.append((batch, sources, pool.submit(_texts, idle, asked)))
                if len(waiting) > 2 * processes:
                    yield from _written(*waiting.popleft(), left_out)
            while waiting:
                yield from _written(*waiting.popleft(), left_out)
        finally:
            pool.shutdown(cancel_futures=True)


def _batches(
    pages: Iterator[MarkdownPage], wanted: Callable[[MarkdownPage], bool]
) -> Iterator[tuple[list[MarkdownPage], dict[int, Source | None]]]:
    """Pages that are written together, with the sources of those that are wanted by their place."""
    batch: list[MarkdownPage] = []
    sources: dict[int, Source | None] = {}
    size = 0
    for page in pages:
        if wanted(page) and page.source is not None:
            source = sources[len(batch)] = page.source()
            size += len(source.body) if source is not None else 0
        batch.append(page)
        if len(batch) >= _TOGETHER or size >= _MOST_BYTES:
            yield batch, sources
            batch, sources, size = [], {}, 0
    if batch:
        yield batch, sources


def _texts(idle: list[SandboxedChild], sources: list[Source]) -> Texts:
    """Runs in a thread, of which there are as many as children."""
    if not sources:
        return []
    writer = idle.pop()
    try:
        return [*ask(writer, sources)]
    except ChildFailed:
        return [_text(writer, each) for each in sources]
    finally:
        idle.append(writer)


def _text(writer: SandboxedChild, source: Source) -> str | ChildFailed:
    try:
        return ask(writer, [source])[0]
    except ChildFailed as failure:
        return failure


def _written(
    batch: list[MarkdownPage], sources: dict[int, Source | None], texts: Future[Texts], left_out: LeftOut
) -> Iterator[MarkdownPage]:
    found = iter(texts.result())
    for place, page in enumerate(batch):
        if place not in sources:
            yield page
            continue
        text = next(found) if sources[place] is not None else None
        if isinstance(text, ChildFailed):
            left_out.note(f"{page.url}: {text}")
            text = None
        yield page.with_text(text)
