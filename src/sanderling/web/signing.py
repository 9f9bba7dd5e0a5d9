"""Signing in and out."""

from html import escape
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from sanderling.web.security import Security, form_token

router = APIRouter(include_in_schema=False)

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sanderling</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/static/sanderling.css"></head>
<body><main><h1>Sanderling</h1>
<form method="post" action="/login">
<input type="hidden" name="form_token" value="{token}"><input type="hidden" name="next" value="{next}">
<label>Password or token <input type="password" name="secret" autocomplete="current-password" required autofocus></label>
<button>Sign in</button></form><p role="alert">{said}</p></main></body></html>
"""


def _page(request: Request, after: str, said: str, status: int) -> Response:
    return HTMLResponse(_PAGE.format(token=form_token(request), next=escape(after), said=escape(said)), status)


@router.get("/login")
def show(request: Request, next: str = "/") -> Response:
    return _page(request, next, "", 200)


@router.post("/login")
def sign_in(
    request: Request, secret: Annotated[str, Form(max_length=1000)], next: Annotated[str, Form()] = "/"
) -> Response:
    security: Security = request.app.state.security
    try:
        session = security.sign_in(secret, request.client.host if request.client else "")
    except HTTPException as error:
        page = _page(request, next, str(error.detail), error.status_code)
        page.headers.update(error.headers or {})
        return page
    if session is None:
        return _page(request, next, "That is not it.", 401)
    request.state.give_cookie = session
    # Only a path of our own: `//host` and `/\host` would lead elsewhere.
    inside = next.startswith("/") and not next.startswith(("//", "/\\")) and next.isprintable()
    return RedirectResponse(next if inside else "/", 303)


@router.post("/logout")
def sign_out(request: Request) -> Response:
    security: Security = request.app.state.security
    security.sign_out(request.state.session)
    request.state.give_cookie = security.new_session()
    return RedirectResponse("/login", 303)
