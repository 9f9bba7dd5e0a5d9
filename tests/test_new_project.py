"""A new project works as it is."""

import json
import subprocess
import sys
from pathlib import Path

from sanderling.testing import read_html
from tests.conftest import FAST, Run
from tests.servers import PageServer


def test_a_new_project_passes_its_test_and_crawls(sanderling: Run, tmp_path: Path) -> None:
    project = tmp_path / "knots"
    assert "README.md" in sanderling("new", project).out
    tested = subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=project, capture_output=True, text=True)
    assert tested.returncode == 0, tested.stdout
    with PageServer({"/": b"<h1>Waders</h1><p>and terns"}) as site:
        crawl = project / "crawl"
        ran = sanderling("crawl", site.origin, "-d", crawl, "--extractor", f"{project}/extractors.py:articles", *FAST)
    assert ran.code == 0, ran.err
    assert sanderling("export", crawl, "--format", "items", "-o", tmp_path / "items.jsonl").code == 0
    (line,) = (tmp_path / "items.jsonl").read_text().splitlines()
    assert json.loads(line)["item"] == {"url": f"{site.origin}/", "title": "Waders", "words": 3}


def test_a_folder_with_files_is_left_alone(sanderling: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    ran = sanderling("new", tmp_path)
    assert ran.code == 2 and "not an empty folder" in ran.err and len(list(tmp_path.iterdir())) == 1


def test_html_is_read_as_an_extractor_gets_it() -> None:
    page = read_html("<title>T</title><a href=/x>go", "http://e.org/a")
    assert (page.title, page.text, page.links()) == ("T", "go", ["http://e.org/x"])
