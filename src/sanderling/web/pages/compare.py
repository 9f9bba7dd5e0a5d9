"""The differences between two versions of a page, and the dates of its paragraphs."""

from typing import Any, Literal, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sanderling.change.comparison import Piece, Words, blame
from sanderling.change.comparison import words as word_by_word
from sanderling.errors import Damaged
from sanderling.model import ChangeKind, VersionRow
from sanderling.presenting.difference import Difference, difference
from sanderling.presenting.versions import paragraphs_of
from sanderling.repository import views
from sanderling.repository.folder import Folder
from sanderling.web.api.inputs import ShelfDep
from sanderling.web.pages.addresses import page_of
from sanderling.web.pages.page import newest_of, page_head
from sanderling.web.pages.rendering import show
from sanderling.web.pages.screenshots import is_shown

router = APIRouter()

# Versions that are read from the archive to find the dates of paragraphs. Each costs about a
# millisecond.
_MOST_READ = 20
# Unchanged paragraphs that are shown before and after a changed one.
_AROUND = 1


class DiffLine(NamedTuple):
    """A paragraph of both versions, or a gap with the number of skipped paragraphs."""

    kind: str
    left: Words
    right: Words
    skipped: int = 0


def lines(shown: list[Piece], everything: bool) -> list[DiffLine]:
    """Changed paragraphs word by word, with some paragraphs around them. Empty if nothing
    changed."""
    near = {
        at + step for at, piece in enumerate(shown) if piece.kind != "same" for step in range(-_AROUND, _AROUND + 1)
    }
    found: list[DiffLine] = []
    for at, piece in enumerate(shown):
        if not everything and at not in near:
            if not found or found[-1].kind != "gap":
                found.append(DiffLine("gap", [], [], 0))
            found[-1] = found[-1]._replace(skipped=found[-1].skipped + 1)
        elif piece.kind == "edited" and not piece.noise:
            found.append(DiffLine(piece.kind, *_marked(piece)))
        else:
            left, right = ([(False, text)] if text else [] for text in (piece.old, piece.new))
            found.append(DiffLine("noise" if piece.noise else piece.kind, left, right))
    return found if near or everything else []


def _marked(piece: Piece) -> tuple[Words, Words]:
    """Marks the changed words. If most of a paragraph changed, no word is marked."""
    left, right = word_by_word(piece.old, piece.new)
    kept = sum(len(text) for changed, text in right if not changed)
    if 3 * kept < len(piece.new):
        return [(False, piece.old)], [(False, piece.new)]
    return left, right


@router.get("/crawls/{crawl}/pages/{id}/diff")
def diff(
    request: Request, crawl: str, id: str, shelf: ShelfDep, a: int = 0, b: int = 0, to: int = 0,
    view: Literal["side", "inline"] = "side", all: bool = False, noise: bool = False,
) -> HTMLResponse:  # fmt: skip
    """`a` and `b` are places in the history of the page; `to` is the number of a version."""
    with shelf.reading(crawl) as (folder, store):
        page = page_of(store, id)
        count = views.version_count(store, page.id)
        newest = newest_of(store, page.id, count)
        head = page_head(request, crawl, id, page, newest)
        b = views.place_of(store, page.id, to) if to else b
        b = b if 1 <= b <= count else count
        a = a if 1 <= a <= count else max(1, b - 1)
        a, b = sorted((a, b))
        if newest is None or count < 2:
            return show(request, "diff.html", **head, view="What changed", count=count, newest=newest)
        older, way = views.versions(store, page.id, a, a)[0], views.way(store, page.id, a, b)
        newer = way[-1]
        pictured = is_shown(folder, older) and is_shown(folder, newer)
        found, trouble = Difference("", [], 0, None), ""
        try:
            found = difference(folder, store, (older, newer), way, places=True, noise=noise)
        except (Damaged, OSError) as error:
            trouble = _in_words(error)
    return show(
        request, "diff.html", **head, view="What changed", count=count, a=a, b=b, side=view == "side", all=all,
        noise=noise, older=older, newer=newer, shown=lines(found.shown, all), summary=found.summary, hidden=found.hidden,
        differing=sum(each.kind != "same" and not each.noise and bool(each.new or each.kind == "removed") for each in found.shown), same_count=len(found.shown),
        trouble=trouble, pictured=pictured,
    )  # fmt: skip


@router.get("/crawls/{crawl}/pages/{id}/paragraphs")
def paragraphs(request: Request, crawl: str, id: str, shelf: ShelfDep) -> HTMLResponse:
    with shelf.reading(crawl) as (folder, store):
        page = page_of(store, id)
        count = views.version_count(store, page.id)
        found = views.versions(store, page.id, max(1, count - _MOST_READ + 1), count) if count else []
        newest = found[-1] if found else None
        found = [each for each in found if not each.kinds & ChangeKind.GONE]
        texts, trouble = _texts(folder, found)
    rows: list[tuple[Any, ...]] = []
    if texts and not trouble:
        rows = [
            (found[origin.first].at, found[origin.edited].at, text, 0 < origin.edited == len(found) - 1)
            for text, origin in zip(texts[-1], blame(texts), strict=True)
        ]
    return show(
        request, "paragraphs.html", **page_head(request, crawl, id, page, newest), view="Paragraphs", rows=rows,
        looked_at=len(found), skipped=count > _MOST_READ, trouble=trouble,
    )  # fmt: skip


def _texts(folder: Folder, versions: list[VersionRow]) -> tuple[list[list[str]], str]:
    """The visible paragraphs of each version, or an error message if the archive cannot be read."""
    try:
        return [paragraphs_of(folder, version) for version in versions], ""
    except (Damaged, OSError) as error:
        return [], _in_words(error)


def _in_words(error: Damaged | OSError) -> str:
    if isinstance(error, OSError):
        return f"the archived copy cannot be read: {error.filename}: {error.strerror}"
    return str(error)
