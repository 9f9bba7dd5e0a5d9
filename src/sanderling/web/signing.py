"""Signing in and out."""

from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from sanderling.web.pages.rendering import show
from sanderling.web.security import Security

router = APIRouter(include_in_schema=False)

_DEVICE_SECONDS = 365 * 24 * 3600


def _device(security: Security) -> str:
    return f"{security.cookie}-device"


def _page(request: Request, after: str, wrong: str, status: int) -> Response:
    return show(request, "login.html", status=status, next=after, wrong=wrong)


@router.get("/login")
def form(request: Request, next: str = "/") -> Response:
    return _page(request, next, "", 200)


@router.post("/login")
def sign_in(
    request: Request, secret: Annotated[str, Form(max_length=1000)], next: Annotated[str, Form()] = "/"
) -> Response:
    security: Security = request.app.state.security
    try:
        device = request.cookies.get(_device(security), "")
        session = security.sign_in(secret, request.client.host if request.client else "", device)
    except HTTPException as error:
        page = _page(request, next, str(error.detail), error.status_code)
        page.headers.update(error.headers or {})
        return page
    if session is None:
        return _page(request, next, "That is neither the password nor the token of this server.", 401)
    request.state.give_cookie = session
    # Only a path on this server: `//host` and `/\host` would lead to another one.
    inside = next.startswith("/") and not next.startswith(("//", "/\\")) and next.isprintable()
    answer = RedirectResponse(next if inside else "/", 303)
    answer.set_cookie(
        _device(security), security.new_device(), max_age=_DEVICE_SECONDS, path="/login", httponly=True,
        samesite="strict", secure=request.url.scheme == "https",
    )  # fmt: skip
    return answer


@router.post("/logout")
def sign_out(request: Request) -> Response:
    security: Security = request.app.state.security
    security.sign_out(request.state.session)
    request.state.give_cookie = security.new_session()
    return RedirectResponse("/login", 303)
