"""Whatever is sent to any operation of the API, as its own description says or not, is answered and never a server error."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.web.served import Served, running

TEXTS = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["", "small", "0", "-1", "1e400", "9" * 40, "../..", "%00", "\"'", "(a", "a*", "~9", "text", "1d", "2026-11-01"]),
)  # fmt: skip
NUMBERS = st.one_of(st.integers(1, 30), st.integers(-3, 30), st.integers(-(2**70), 2**70))
# These begin processes, ask for names or do not end; what they refuse is tested elsewhere.
LEFT_OUT = ("/events", "/start")


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, said)
        for path, methods in document["paths"].items()
        for method, said in methods.items()
        if not path.endswith(LEFT_OUT) and (method, path) != ("post", "/api/v1/crawls")
    ]


def of_schema(
    schema: dict[str, Any], resolve: Callable[[str], dict[str, Any]], depth: int = 0
) -> st.SearchStrategy[Any]:
    """Values of about the right form."""
    if depth > 4:
        return st.none()
    if "$ref" in schema:
        return of_schema(resolve(schema["$ref"]), resolve, depth + 1)
    if "anyOf" in schema:
        return st.one_of([of_schema(each, resolve, depth + 1) for each in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        return st.lists(of_schema(schema.get("items", {}), resolve, depth + 1), max_size=3)
    if kind == "object":
        inner = {name: of_schema(each, resolve, depth + 1) for name, each in schema.get("properties", {}).items()}
        return st.fixed_dictionaries({}, optional=inner) if inner else st.dictionaries(TEXTS, TEXTS, max_size=2)
    known: dict[Any, st.SearchStrategy[Any]] = {
        "integer": NUMBERS, "number": st.floats(allow_nan=False, allow_infinity=False), "boolean": st.booleans(), "null": st.none(),
    }  # fmt: skip
    return known.get(kind, TEXTS)


@pytest.fixture(scope="module")
def server(crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("fuzz") / "home"
    shutil.copytree(crawled, home)
    with running(home) as served:
        yield served


@pytest.fixture(scope="module")
def document(server: Served) -> dict[str, Any]:
    found: dict[str, Any] = server.http.get("/api/v1/openapi.json").json()
    return found


@given(data=st.data())
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_is_a_server_error(server: Served, document: dict[str, Any], data: st.DataObject) -> None:
    def resolve(name: str) -> dict[str, Any]:
        found: Any = document
        for part in name.removeprefix("#/").split("/"):
            found = found[part]
        return dict(found)

    method, path, said = data.draw(st.sampled_from(operations(document)))
    query: dict[str, Any] = {}
    for each in said.get("parameters", []):
        value = of_schema(each.get("schema", {}), resolve) if data.draw(st.integers(0, 9)) else TEXTS
        if each["in"] == "path":
            drawn = "small" if each["name"] == "crawl" and data.draw(st.integers(0, 5)) else str(data.draw(value))
            path = path.replace(
                f"{{{each['name']}}}", "".join(f"%{byte:02x}" for byte in drawn.encode("utf-8", "replace")) or "0"
            )
        elif data.draw(st.booleans()):
            query[each["name"]] = data.draw(value)
    sent = None
    if content := said.get("requestBody", {}).get("content", {}).get("application/json"):
        sent = json.dumps(data.draw(of_schema(content["schema"], resolve))).encode()
    headers = {"X-Sanderling": "1", "content-type": "application/json"}
    answer = server.http.request(method, path, params=query, content=sent, headers=headers)
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"]
    elif "json" in answer.headers["content-type"]:
        answer.json()
