"""Forms of applications that nobody here wrote, with records that no link leads to."""

from pathlib import Path
from typing import Any

import pytest

from tests.applications import datasette, omega, omega_missing, roundup
from tests.conftest import FAST, Run
from tests.hidden_web import texts


def crawl(sanderling: Run, url: str, folder: Path, *options: object) -> tuple[list[dict[str, Any]], set[str]]:
    """The forms of a crawl, and the URLs of its pages."""
    assert sanderling("crawl", url, "-d", folder, *FAST, "--clients", "1", "--no-index", *options).code == 0
    forms = sanderling("forms", folder, "--json").lines
    return forms, {page["url"] for page in sanderling("pages", folder, "--json").lines}


def test_datasette(tmp_path: Path, sanderling: Run) -> None:
    """Canned queries with one and with two text fields; answers with links to other views of themselves."""
    with datasette(tmp_path / "app", texts(60)) as url:
        forms, pages = crawl(sanderling, url, tmp_path / "c", "--forms", "all-get", "--form-queries", "60")
    records = {page for page in pages if "/pages/" in page}
    assert len(records) >= 54
    assert len(pages) - len(records) < 40  # neither facets nor formats became a trap
    (search,) = [form for form in forms if form["action"].endswith("/search")]
    assert search["found"] >= 50 and search["least"] <= 60 <= search["most"] * 1.2
    assert all(
        "sql" not in {field["name"] for field in form["fields"]} or not form.get("submissions") for form in forms
    )


def test_roundup(tmp_path: Path, sanderling: Run) -> None:
    """Many selects, a pager, and a login form on every page that must never be sent."""
    with roundup(tmp_path / "app", texts(55)) as url:
        forms, pages = crawl(sanderling, url, tmp_path / "c", "--forms", "search", "--form-queries", "10")
    assert {f"{url}issue{number}" for number in range(1, 56)} <= pages
    logins = [form for form in forms if form["kind"] == "login"]
    assert logins and all(form["state"] == "not sent" for form in logins)
    assert not any(form.get("submissions") for form in forms if form["method"] == "POST")
    assert max(form.get("found", 0) for form in forms) >= 50


def test_omega(tmp_path: Path, sanderling: Run) -> None:
    """A pager made of submit buttons, which no link leads through."""
    if why := omega_missing():
        pytest.skip(why)
    with omega(tmp_path / "app", texts(100, length=40)) as url:
        (form,), pages = crawl(sanderling, url, tmp_path / "c", "--forms", "search")
    assert len([page for page in pages if "/records/" in page]) >= 95
    assert form["requests"] > form["submissions"]  # it turned pages
    assert form["found"] >= 95 and form["submissions"] <= 40
