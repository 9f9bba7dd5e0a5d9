"""Archives in object storage: a real server of the S3 protocol (moto, in the environment of pywb),
that is killed with, hangs and loses objects."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import obstore
import pytest

from sanderling.errors import ArchiveAway
from sanderling.repository import archives, remote
from tests.conftest import FAST, Run
from tests.replaying import PYWB
from tests.servers import PageServer, links
from tests.waiting import PATIENCE, until

ARCHIVE = "s3://birds/crawl"
PAGES = {"/": links("/two", "/three") + b"<p>First about dunlins", "/two": b"<p>Second", "/three": b"<p>Third"}


class Storage(NamedTuple):
    process: "subprocess.Popen[bytes]"
    url: str

    def objects(self) -> list[str]:
        return sorted(name for name, _ in remote.listed(ARCHIVE))


@pytest.fixture
def storage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Storage]:
    if not (PYWB / "moto_server").exists():
        pytest.skip("moto is not installed in .venv/replay: `make test` installs it")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    values = {"ENDPOINT_URL": url, "ACCESS_KEY_ID": "some", "SECRET_ACCESS_KEY": "thing", "REGION": "us-east-1"}
    for name, value in values.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    remote.storage.cache_clear()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([PYWB / "moto_server", "-H", "127.0.0.1", "-p", str(port)], **quiet) as process:
        try:
            until(lambda: process.poll() is not None or _made(f"{url}/birds"))
            yield Storage(process, url)
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()
            remote.storage.cache_clear()


def _made(bucket: str) -> bool:
    try:
        with urllib.request.urlopen(urllib.request.Request(bucket, method="PUT"), timeout=PATIENCE):
            return True
    except (urllib.error.URLError, OSError):
        return False


def test_a_crawl_whose_archives_are_elsewhere(storage: Storage, sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with PageServer(dict(PAGES)) as server:
        assert sanderling("crawl", server.origin, "-d", folder, "--archive", ARCHIVE, *FAST).code == 0
        here = {path.name for path in (folder / "warc").iterdir()}
        assert here == {f"{name}{remote.NOTE}" for name in storage.objects()} and here
        assert "dunlins" in sanderling("search", folder, "dunlins").out.replace("*", "")
        server.table["/two"] = b"<p>Second, edited"
        assert sanderling("crawl", "-d", folder, "--again", *FAST).code == 0
        assert "edited" in sanderling("diff", folder, f"{server.origin}/two").out
    kept = sanderling("prune", folder, "--keep", "1 versions")
    assert kept.code == 0 and "it is in object storage" in kept.out + kept.err
    assert sanderling("check", folder, "--deep").code == 0
    assert sanderling("export", folder, "--format", "wacz", "-o", tmp_path / "a.wacz").code == 0

    # The folder is lost: all is rebuilt from the storage.
    again = tmp_path / "again"
    assert sanderling("recover", again, "--archive", ARCHIVE).code == 0
    before, after = (
        {(row["url"], row["digest"]) for row in sanderling("pages", each, "--json").lines} for each in (folder, again)
    )
    assert before == after

    # An object is lost: `check` names it, and its pages are fetched again.
    gone = storage.objects()[0]
    obstore.delete(remote.storage(ARCHIVE), gone)
    found = sanderling("check", folder)
    assert found.code == 1 and f"{gone} is missing" in found.out and ARCHIVE in found.out


def test_storage_that_cannot_be_reached(storage: Storage, sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    os.environ["AWS_ENDPOINT_URL"] = "http://127.0.0.1:9"  # the fixture sets it back
    with PageServer(dict(PAGES)) as server:
        ran = sanderling("crawl", server.origin, "-d", folder, "--archive", ARCHIVE, *FAST)
        assert ran.code == 0 and f"{ARCHIVE} cannot be reached, and nothing is lost" in ran.err
        assert "the next run uploads them" in ran.err and not list(folder.glob(f"warc/*{remote.NOTE}"))
        os.environ["AWS_ENDPOINT_URL"] = storage.url
        assert sanderling("crawl", "-d", folder, *FAST).code == 0
    assert storage.objects() and not list(folder.glob("warc/*.warc.gz"))

    os.environ["AWS_ENDPOINT_URL"] = "http://127.0.0.1:9"
    for command in (["check", "--repair"], ["export", "--format", "jsonl", "-o", tmp_path / "a.jsonl"], ["recover"]):
        ran = sanderling(command[0], folder, *command[1:])
        assert (ran.code, "Traceback" in ran.err) == (1, False) or command == ["recover"], command
        assert command == ["recover"] or "cannot be reached, and nothing is lost" in ran.err
    os.environ["AWS_ENDPOINT_URL"] = storage.url
    assert sanderling("check", folder, "--deep").code == 0  # nothing was given up


def test_an_upload_that_is_cut_short_leaves_the_archive(storage: Storage, tmp_path: Path) -> None:
    path = tmp_path / "some.warc.gz"
    path.write_bytes(os.urandom(1 << 20))
    content = path.read_bytes()
    program = f"import pathlib; from sanderling.repository.remote import upload; upload(pathlib.Path({str(path)!r}), {ARCHIVE!r})"
    storage.process.send_signal(signal.SIGSTOP)
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        process.kill()
    storage.process.send_signal(signal.SIGCONT)
    assert path.read_bytes() == content and remote.place_of(path) is None
    remote.upload(path, ARCHIVE)
    assert not path.exists() and remote.exists(path) and remote.size_of(path) == len(content)
    opened = remote.open_archive(path, ahead=1000)
    assert [opened.pread(700, at) for at in (0, 700, 5, len(content) - 3)] == [
        content[:700], content[700:1400], content[5:705], content[-3:],
    ]  # fmt: skip
    assert archives.shortages(tmp_path, {path.name: len(content)}) == []
    remote.upload(_again(path, content), ARCHIVE)  # a crash between the note and the removal
    assert storage.objects() == [path.name] and json.loads(path.with_name(f"{path.name}.remote").read_bytes())
    storage.process.kill()
    storage.process.wait()
    with pytest.raises(ArchiveAway, match="nothing is lost"):
        remote.open_archive(path).pread(10, 0)


def _again(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_exports_to_object_storage(storage: Storage, sanderling: Run, tmp_path: Path, crawled: Path) -> None:
    folder = crawled / "small"
    for form in ("jsonl", "wacz", "sqlite"):
        address, here = f"s3://birds/exports/{form}", tmp_path / form
        ran = sanderling("export", folder, "--format", form, "-o", address)
        assert ran.code == 0 and f"to {address}" in ran.err
        assert sanderling("export", folder, "--format", form, "-o", here).code == 0
        there = bytes(obstore.get(remote.storage("s3://birds"), f"exports/{form}").bytes())
        assert len(there) == here.stat().st_size and there[:8] == here.read_bytes()[:8]
    again = sanderling("export", folder, "--format", "jsonl", "-o", "s3://birds/exports/jsonl")
    assert again.code == 2 and "exists" in again.err
    wrong = {
        "s3://nobody/a": (1, "there is no bucket nobody"),
        "s3://birds": (2, "s3://bucket/prefix/name"),
        "s3://birds/../a": (2, "s3://bucket/prefix/name"),
    }
    for address, (code, said) in wrong.items():
        ran = sanderling("export", folder, "--format", "sqlite", "-o", address)
        assert (ran.code, ran.err.count("\n")) == (code, 1) and said in ran.err, ran.err
    ran = sanderling("export", folder, "--format", "site", "-o", "s3://birds/site")
    assert ran.code == 2 and "export it to a folder" in ran.err


def test_an_export_that_is_cut_short_leaves_nothing(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    file = remote.remote_file("s3://birds/exports/a")
    remote.write_file(file, [b"whole"])
    monkeypatch.setattr(remote, "_PART", 5 << 20)

    def broken(fault: Callable[[], None]) -> Iterator[bytes]:
        for _ in range(7):
            yield bytes(1 << 20)
        fault()
        for _ in range(7):
            yield bytes(1 << 20)

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        remote.write_file(file, broken(stop))
    with urllib.request.urlopen(f"{storage.url}/birds?uploads", timeout=PATIENCE) as listing:
        assert b"<Upload>" not in listing.read()
    assert bytes(obstore.get(remote.storage("s3://birds"), file.name).bytes()) == b"whole"
    with pytest.raises(ArchiveAway, match="s3://birds/exports/a cannot be reached"):
        remote.write_file(file, broken(storage.process.kill))


def test_addresses_that_are_none(sanderling: Run, tmp_path: Path) -> None:
    for wrong in ("http://bucket/", "s3://", "s3://B/x", "birds"):
        ran = sanderling("crawl", "http://127.0.0.1:9/", "-d", tmp_path / "none", "--archive", wrong)
        assert ran.code == 2 and "s3://bucket/prefix" in ran.err
    assert not (tmp_path / "none").exists()
