"""The crawls that a server shows, and its error messages."""

import shutil
import signal
from pathlib import Path

from tests.conftest import Run
from tests.waiting import PATIENCE
from tests.web.served import Served, running


def test_crawls_and_one_crawl(served: Served, crawled: Path) -> None:
    (only,) = served.http.get("/api/v1/crawls").json()["items"]
    assert only["id"] == "small" and only["running"] is False and only["counts"]["pages"] == 40
    assert served.http.get("/api/v1/crawls/small").json() == only


def test_errors_are_problems(served: Served) -> None:
    for method, path, status in (
        ("GET", "/api/v1/crawls/nobody", 404),
        ("GET", "/api/v1/nothing", 404),
        ("GET", "/api/v1/crawls/..%2f..%2fetc", 404),
        ("DELETE", "/api/v1/crawls", 405),
    ):
        answer = served.http.request(method, path, headers={"x-sanderling": "1"})
        assert answer.status_code == status, path
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["status"] == status and answer.json()["detail"]


def test_folders_of_the_same_name_are_told_apart(crawled: Path, tmp_path: Path) -> None:
    shutil.copytree(crawled / "small", tmp_path / "more" / "small")
    shutil.copytree(crawled / "small", tmp_path / "more" / "Größe <b>")
    (tmp_path / "more" / "broken").mkdir()
    (tmp_path / "more" / "broken" / "sanderling.toml").write_text("seeds = [")
    with running(crawled / "small", tmp_path / "more") as server:
        items = server.http.get("/api/v1/crawls").json()["items"]
        assert len({each["id"] for each in items}) == 4
        for each in items:
            answer = server.http.get(f"/api/v1/crawls/{each['id']}")
            assert answer.status_code == (400 if each["problem"] else 200)
        (broken,) = [each for each in items if each["problem"]]
        assert broken["id"] == "broken" and "not valid TOML" in broken["problem"]


def test_a_new_directory_has_no_crawls(tmp_path: Path) -> None:
    with running(tmp_path / "new") as server:
        assert server.http.get("/api/v1/crawls").json() == {"items": []}


def test_mistakes_on_the_command_line(sanderling: Run, crawled: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for arguments, said in (
        ((tmp_path / "file",), "is not a folder"),
        ((tmp_path / "no" / "such",), "does not exist"),
        ((crawled, "--password-file", tmp_path / "file"), "is empty"),
        ((crawled, "--token", "hunter2"), "can be guessed"),
    ):
        ran = sanderling("serve", *arguments, "--port", 0)
        assert ran.code == 2 and said in ran.err


def test_a_port_in_use_is_said(served: Served, sanderling: Run, crawled: Path) -> None:
    ran = sanderling("serve", crawled, "--port", served.url.rpartition(":")[2])
    assert ran.code == 2 and "cannot listen" in ran.err


def test_the_end_does_not_wait_for_those_who_listen(crawled: Path) -> None:
    with running(crawled) as server, server.http.stream("GET", "/api/v1/crawls/small/events") as events:
        assert next(events.iter_lines()) == "event: idle"
        server.process.send_signal(signal.SIGINT)
        _, errors = server.process.communicate(timeout=PATIENCE)
    assert server.process.returncode == 0 and "Traceback" not in errors, errors


def test_a_folder_that_goes_away_ends_what_is_told_of_it(crawled: Path, tmp_path: Path) -> None:
    shutil.copytree(crawled / "small", tmp_path / "home" / "small")
    with (
        running(tmp_path / "home") as server,
        server.http.stream("GET", "/api/v1/crawls/small/events?baseline=1", headers={"last-event-id": "0"}) as events,
    ):
        lines = events.iter_lines()
        assert next(lines) == "event: change"
        (tmp_path / "home" / "small").rename(tmp_path / "elsewhere")
        assert list(lines)  # and then it ends
        assert server.http.get("/api/v1/crawls").json() == {"items": []}
        shutil.copytree(crawled / "small", tmp_path / "home" / "small", ignore=lambda *_: ["sanderling.db"])
        assert server.http.get("/api/v1/crawls/small").json()["counts"]["pages"] == 0
