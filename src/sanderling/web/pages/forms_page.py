"""The forms of a crawl: where they are, what was sent and found, and why not."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sanderling.forms.listing import kept
from sanderling.repository import form_rows as stored
from sanderling.repository.opening import settings_for
from sanderling.web.api.inputs import ShelfDep
from sanderling.web.pages.addresses import MOST, first_part, next_part
from sanderling.web.pages.rendering import show

router = APIRouter()

# Fields and options of one form that are shown.
_FIELDS, _OPTIONS = 30, 8


@router.get("/crawls/{crawl}/forms")
def forms(request: Request, crawl: str, shelf: ShelfDep, after: int | None = None) -> HTMLResponse:
    with shelf.reading(crawl) as (folder, store):
        settings, _ = settings_for(folder, {})
        part = stored.forms_after(store, MOST, after)
    shown = sorted(map(kept, part), key=lambda form: (-form.found, -form.submissions, form.action))
    return show(
        request, "forms.html", crawl=crawl, tab="Forms", forms=shown, sending=settings.forms, folder=folder.path,
        most_fields=_FIELDS, most_options=_OPTIONS, first=first_part(request, "after"),
        next=next_part(request, "after", part[-1].form.id if len(part) == MOST else None),
    )  # fmt: skip
