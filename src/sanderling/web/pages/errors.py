"""The page that shows an error, with advice."""

from http import HTTPStatus

from fastapi import Request
from fastapi.responses import HTMLResponse

from sanderling.web.pages.rendering import show

_TITLES = {
    400: "This request is not valid", 403: "Not accepted", 404: "Not found", 405: "Not possible here",
    409: "Not possible now", 422: "Some values are not valid", 429: "Too many requests", 500: "Something went wrong",
    503: "Not available now",
}  # fmt: skip
_ADVICE = {
    403: "Go back, load the page again and send the form once more.",
    404: "The address may be wrong, or the crawl was moved or renamed.",
    422: "Go back and check the form.",
    500: "Your crawls were not changed. The server's output may contain details.",
    503: "The next page that you open will try again.",
}


def error_page(request: Request, status: int, detail: str) -> HTMLResponse:
    title = _TITLES.get(status) or HTTPStatus(status).phrase
    parts = request.url.path.split("/")
    name = parts[2] if len(parts) > 2 and parts[1] == "crawls" else ""
    crawl = name if name in request.app.state.shelf.folders() else ""
    if detail == HTTPStatus(status).phrase:  # the framework's default text, which only repeats the title
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
