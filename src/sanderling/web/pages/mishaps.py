"""What a person reads when something cannot be shown, and what to do about it."""

from http import HTTPStatus

from fastapi import Request
from fastapi.responses import HTMLResponse

from sanderling.web.pages.rendering import show

_TITLES = {
    400: "That does not work", 403: "That was not accepted", 404: "Nothing here", 405: "That cannot be done here", 409: "Not as things stand",
    422: "That does not fit", 429: "A little slower", 500: "Something went wrong", 503: "Not reachable just now",
}  # fmt: skip
_ADVICE = {
    403: "Go back, load the page again and send the form once more.",
    404: "The address may be mistyped, or the crawl was moved or renamed since.",
    422: "Go back and look at what was filled in.",
    500: "A page only reads your crawls, and changed nothing. The server's own output may say more.",
    503: "It is tried again with the next page you open.",
}


def error_page(request: Request, status: int, detail: str) -> HTMLResponse:
    title = _TITLES.get(status) or HTTPStatus(status).phrase
    parts = request.url.path.split("/")
    name = parts[2] if len(parts) > 2 and parts[1] == "crawls" else ""
    crawl = name if name in request.app.state.shelf.folders() else ""
    if detail == HTTPStatus(status).phrase:  # the framework's own words, which say no more than the title
        detail = "There is no such page." if status == 404 else ""
    return show(
        request,
        "error.html",
        status=status,
        crawl=crawl,
        at_home=len(parts) == 3,
        title=title,
        detail=detail,
        advice=_ADVICE.get(status, ""),
    )
