"""Answers of the API. The same msgspec types encode them and describe them in the OpenAPI
document."""

from typing import Any

import msgspec
from fastapi import FastAPI, Response
from fastapi.openapi.utils import get_openapi

_KINDS: list[type[Any]] = []
_PLACE = "#/components/schemas/{name}"
_WRONG = {
    "description": "a problem",
    "content": {"application/problem+json": {"schema": {"$ref": _PLACE.format(name="Problem")}}},
}


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str


def gives(kind: type[Any], *statuses: int) -> dict[str, Any]:
    """The arguments of an endpoint's decorator that describe its answer."""
    _KINDS.append(kind)
    statuses = statuses or (200,)
    described = {"schema": {"$ref": _PLACE.format(name=kind.__name__)}}
    return {
        "response_model": None,
        "status_code": statuses[0],
        "responses": {
            each: {"description": (kind.__doc__ or "").strip(), "content": {"application/json": described}}
            for each in statuses
        },
    }


def json_answer(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(value), status, headers, media_type="application/json")


def describe(app: FastAPI) -> None:
    """Makes the app's OpenAPI document, at the first request for it."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(title=app.title, version=app.version, routes=app.routes)
            for operation in [each for path in made["paths"].values() for each in path.values()]:
                operation["responses"].pop("422", None)  # the framework's form of an error, which we do not use
                operation["responses"]["default"] = _WRONG
            _, ours = msgspec.json.schema_components([Problem, *_KINDS], ref_template=_PLACE)
            made.setdefault("components", {}).setdefault("schemas", {}).update(ours)
            app.openapi_schema = made
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]
