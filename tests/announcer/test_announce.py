"""The command as it runs beside a site: ended, killed and started again, it announces every change
once."""

import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.announcer.sites import SITE, ReportReader
from tests.conftest import Run, started
from tests.waiting import until


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "www"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}.html").write_text(f"page {number}")
    return folder


def test_once_is_a_step_of_a_build(root: Path, tmp_path: Path, sanderling: Run) -> None:
    again = ("announce", root, "--site", SITE, "--state", tmp_path / "state", "--once")
    first = sanderling(*again)
    assert first.code == 0 and "20 pages found" in first.err and "add this to robots.txt" in first.err
    reader = ReportReader(root / ".well-known" / "sanderling")
    assert reader.news() == [] and len(reader.listed()) == 20
    (root / "1.html").write_text("other")
    (root / "2.html").unlink()
    second = sanderling(*again)
    assert "1 changed, 1 gone; cursor 1" in second.err
    assert reader.told() == {("1.html", "changed"), ("2.html", "gone")}
    assert len(reader.listed()) == 19


def test_every_change_is_told_once_however_often_it_is_killed(root: Path, tmp_path: Path) -> None:
    chance = random.Random(4)
    reader = ReportReader(root / ".well-known" / "sanderling")
    truth = {path.name: path.read_text() for path in root.glob("*.html")}
    told: dict[str, int] = {}
    written: dict[str, int] = {}

    def settled() -> bool:
        if not (reader.folder / "manifest.jsonl").exists():
            return False
        for change in reader.news():
            name = change.url.removeprefix(SITE)
            told[name] = told.get(name, 0) + 1
        return told == written

    for round in range(6):
        arguments = ("announce", root, "--site", SITE, "--state", tmp_path / "state", "--gone-after", "100ms")
        with started(*arguments, stderr=subprocess.PIPE) as process:
            if round == 0:
                until(lambda: (reader.folder / "manifest.jsonl").exists())
                reader.news()
            for number in chance.sample(range(100, 200), 3):
                name = f"{number}-{round}.html"
                (root / name).write_text(f"{round}")
                truth[name], written[name] = f"{round}", 1
            if chance.random() < 0.5:
                time.sleep(chance.random() * 2)
            else:
                until(settled)
            process.send_signal(signal.SIGKILL)
            process.wait()
    with started(*arguments, stderr=subprocess.PIPE) as process:
        assert process.stderr and "watching" in process.stderr.readline()
        until(settled)
        until(lambda: set(reader.listed()) == {SITE + name for name in truth})
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    settled()
    assert told == written
    assert reader.manifest().until <= time.time()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere", "--site", SITE], "'nowhere' is not a folder"),
        ([".", "--site", "example"], "is not the URL of a site"),
        ([".", "..", "--site", SITE], "2 folders and 1 site"),
        ([".", "..", "--site", SITE, "--site", SITE], "the same --site"),
        ([".", "--site", SITE, "--sql", "SELECT 1, 2"], "--sql and --database belong together"),
        ([".", "--site", SITE, "--every", "soon"], "is not a duration"),
        ([".", "--site", SITE, "--quiet", "night"], "is not a time of the day"),
        ([".", "--site", SITE, "--push", "nowhere"], "is not a URL"),
        ([".", "--site", SITE, "--websub", "https://hub.example/"], "--websub needs --feed"),
        ([".", "--site", SITE, "--websub", "https://hub.example/", "--feed", "https://other.example/"], "is not below"),
        ([".", "--site", SITE, "--map", "x"], "is not a mapping"),
        ([".", "--site", SITE, "--listen", "here"], "is not an address"),
        ([".", "--site", SITE, "--listen", "0"], "needs a token"),
        ([".", "--site", SITE, "--ignore", "("], "is not a valid pattern"),
        ([".", "--site", SITE, "--state", "inside"], "is public"),
    ],
)
def test_every_mistake_is_one_sentence(
    arguments: list[str],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from sanderling.cli import main

    (tmp_path / "www").mkdir()
    monkeypatch.chdir(tmp_path / "www")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert main(["announce", *arguments]) == 2
    said = capsys.readouterr().err.splitlines()
    assert complaint in said[-1]


def test_several_sites_of_one_server(tmp_path: Path, sanderling: Run) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.html").write_text(name)
    done = sanderling(
        "announce",
        tmp_path / "a",
        tmp_path / "b",
        "--site",
        "https://a.example/",
        "--site",
        "https://b.example/",
        "--state",
        tmp_path / "s",
        "--once",
    )
    assert done.code == 0
    for name in ("a", "b"):
        manifest = (tmp_path / name / ".well-known/sanderling/manifest.jsonl").read_text()
        assert f'"site":"https://{name}.example/"' in manifest


def test_a_step_of_a_build_does_not_wait_for_what_cannot_be_read(root: Path, tmp_path: Path, sanderling: Run) -> None:
    once = ("announce", root, "--site", SITE, "--state", tmp_path / "s", "--once")
    for source in (("--command", "exit 3"), ("--git",)):
        done = sanderling(*once, *source)
        assert done.code == 1 and "there is no list" in done.err and "nothing was announced" in done.err
    assert sanderling(*once).code == 0
    shutil.rmtree(root)
    root.mkdir()
    done = sanderling(*once)
    assert done.code == 1 and "is empty, as if a disk were not mounted" in done.err


def test_a_report_that_cannot_be_written_ends_it_with_a_sentence(root: Path, tmp_path: Path, sanderling: Run) -> None:
    (tmp_path / "report").write_text("a file where a folder should be")
    done = sanderling(
        "announce", root, "--site", SITE, "--state", tmp_path / "s", "--report", tmp_path / "report", "--once"
    )
    assert done.code == 1 and len(done.err.splitlines()) == 1 and "report" in done.err
