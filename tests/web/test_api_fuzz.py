"""Every request to the API, valid or not, gets an answer that is not a server error."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.waiting import PATIENCE
from tests.web.served import Served, running

# These start processes, resolve names or do not end. Other tests check what they refuse.
LEFT_OUT = r"(/events|/start|/api/v1/crawls|/watches/matches)$"
WITH_METHOD = (
    ("POST", "/api/v1/watches"), ("DELETE", "/api/v1/crawls/{crawl}"), ("POST", "/api/v1/crawls/{crawl}/notifications"),
)  # fmt: skip
CHECKS = [
    schemathesis.checks.not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance,
]  # fmt: skip


@pytest.fixture(scope="module")
def server(crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("fuzz") / "home"
    shutil.copytree(crawled, home)
    with running(home) as served:
        yield served


@pytest.fixture(scope="module")
def description(server: Served) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_url(f"{server.url}/api/v1/openapi.json", timeout=PATIENCE)


@given(data=st.data())
@settings(max_examples=300, suppress_health_check=list(HealthCheck))
def test_nothing_is_a_server_error(description: schemathesis.BaseSchema, data: st.DataObject) -> None:
    tried = description.exclude(path_regex=LEFT_OUT)
    for method, path in WITH_METHOD:
        tried = tried.exclude(method=method, path=path)
    case = data.draw(tried.as_strategy())
    if "crawl" in case.path_parameters and data.draw(st.integers(0, 9)):
        case.path_parameters["crawl"] = "small"  # most errors need an existing crawl
    answer = case.call(headers={"X-Sanderling": "1"}, timeout=PATIENCE)
    case.validate_response(answer, checks=CHECKS)
