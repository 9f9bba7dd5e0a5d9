"""Forms of applications that nobody here wrote, with records that no link leads to."""

import contextlib
import json
import re
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.applications import datasette, free_port, omega, omega_missing, roundup, serving
from tests.conftest import FAST, Run
from tests.hidden_web import texts

DOCS = Path(__file__).parent.parent / "docs" / "forms.md"


def crawl(sanderling: Run, url: str, folder: Path, *options: object) -> tuple[list[dict[str, Any]], set[str]]:
    """The forms of a crawl, and the URLs of its pages."""
    assert sanderling("crawl", url, "-d", folder, *FAST, "--clients", "1", "--no-index", *options).code == 0
    forms = sanderling("forms", folder, "--json").lines
    return forms, {page["url"] for page in sanderling("pages", folder, "--json").lines}


def test_datasette(tmp_path: Path, sanderling: Run) -> None:
    """Canned queries with one and with two text fields; answers with links to other views of
    themselves."""
    with datasette(tmp_path / "app", texts(60)) as url:
        forms, pages = crawl(sanderling, url, tmp_path / "c", "--forms", "all-get", "--form-queries", "60")
    records = {page for page in pages if "/pages/" in page}
    assert len(records) >= 50  # which words are tried depends on which answers come first
    assert len(pages) - len(records) < 40  # neither facets nor formats became a trap
    (search,) = [form for form in forms if form["action"].endswith("/search")]
    assert search["found"] >= 50 and search["least"] <= 60 <= search["most"] * 1.2
    assert all(
        "sql" not in {field["name"] for field in form["fields"]} or not form.get("submissions") for form in forms
    )


def test_facets_of_a_public_table(tmp_path: Path, sanderling: Run) -> None:
    """Filters, orders, pages and formats of one list can be combined in thousands of ways."""
    folder, port = tmp_path / "app", free_port()
    folder.mkdir()
    with contextlib.closing(sqlite3.connect(folder / "shops.db")) as db:
        db.execute("CREATE TABLE shops (id INTEGER PRIMARY KEY, trade TEXT, place TEXT, about TEXT)")
        for number, text in enumerate(texts(120, length=12)):
            row = (number, f"trade{'abcdef'[number % 6]}", f"place{'uvwxyz'[number * 7 % 11 % 6]}", text)
            db.execute("INSERT INTO shops VALUES (?, ?, ?, ?)", row)
        db.commit()
    facets = {"databases": {"shops": {"tables": {"shops": {"facets": ["trade", "place"], "size": 20}}}}}
    (folder / "metadata.json").write_text(json.dumps(facets))
    command = (
        sys.executable,
        "-m",
        "datasette",
        "serve",
        folder / "shops.db",
        "-p",
        port,
        "-m",
        folder / "metadata.json",
    )
    with serving(command, f"http://127.0.0.1:{port}/") as url:
        _, pages = crawl(sanderling, url, tmp_path / "c", "--exclude", r"\.(json|csv)|[?&]sql=", "--max-pages", "1000")
    assert {f"{url}shops/shops/{number}" for number in range(120)} <= pages
    assert len(pages) < 1000


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


def test_the_walkthrough_of_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sanderling: Run) -> None:
    """Its commands one after the other, on a port that is free; what it says comes true."""
    port = str(free_port())
    text = DOCS.read_text().replace("8001", port)
    script = re.search(r"^```python\n(# shore\.py\n.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert script is not None
    (tmp_path / "shore.py").write_text(script[1])
    subprocess.run([sys.executable, "shore.py"], cwd=tmp_path, check=True)
    (opened,) = re.findall(r"^\$ datasette (.*) &$", text, re.MULTILINE)
    lines = [shlex.split(line) for line in re.findall(r"^\$ sanderling (.*)$", text, re.MULTILINE)]
    assert [line[0] for line in lines] == ["crawl", "search", "crawl", "forms", "search"]
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-m", "datasette", "serve", *shlex.split(opened)]
    with serving(command, f"http://localhost:{port}/", cwd=tmp_path):
        ran = [sanderling(*line) for line in lines]
    assert [each.code for each in ran] == [0] * 5
    assert "0 matching" in ran[1].out
    (form,) = sanderling("forms", "shore", "--json").lines
    assert form["found"] >= 50
    assert "A *curlew* was seen on *Texel*" in ran[4].out
