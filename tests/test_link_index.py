"""The link index, as a user sees it, on a crawl with known links."""

import io
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import EXPERIMENTS, experiment_parser
from sanderling.cli import links
from sanderling.errors import UsageError
from sanderling.model import Commit, Counts, Host, NewUrl, Outcome, Settled, State, Visit
from sanderling.repository import export as formats
from sanderling.repository.folder import Folder
from sanderling.repository.sqlite import SqliteStore
from sanderling.repository.store import Store
from sanderling.urls import identity

SITE = "http://e.org/"
EDGES = {"": ["a", "b&c", "out"], "a": ["", "b&c"], "b&c": ["a"]}
STATES = {"": State.FETCHED, "a": State.FETCHED, "b&c": State.FETCHED, "out": State.EXCLUDED}


def id_of(name: str) -> int:
    return identity(SITE + name)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.settings.touch()
    store = SqliteStore(made.database)
    rows = [
        NewUrl(id_of(name), SITE + name, 7, 0, State.QUEUED if state is State.FETCHED else state, 0.0, 0, 0, "", "")
        for name, state in STATES.items()
    ]
    store.seed([SITE], rows, [Host(7, "http://e.org")], Counts())
    visits = [
        Visit(
            id=id_of(name), outcome=Outcome.PAGE, status=200, at=1.0,
            links=b"".join(id_of(target).to_bytes(8, "little", signed=True) for target in targets),
        )
        for name, targets in EDGES.items()
    ]  # fmt: skip
    settled = [Settled(visit.id, State.FETCHED, 0, 0.0, "") for visit in visits]
    store.commit(Commit("c", 1, [], settled, visits, [], {}, Counts()))
    store.close()
    return made


@pytest.fixture
def store(folder: Folder) -> Iterator[Store]:
    opened = SqliteStore(folder.database, readonly=True)
    yield opened
    opened.close()


def ask(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[str]:
    import argparse

    commands = argparse.ArgumentParser().add_subparsers()
    links.add(commands)
    options = commands.choices["links"].parse_args([str(each) for each in arguments])
    assert options.run(options) == 0
    return capsys.readouterr().out.splitlines()


def test_links_out_in_the_order_of_the_page(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(capsys, folder.path, SITE, "--out") == [
        f"fetched   {SITE}a",
        f"fetched   {SITE}b&c",
        f"excluded  {SITE}out",
    ]
    assert ask(capsys, folder.path, f"{SITE}out", "--out") == []


def test_links_in(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(capsys, folder.path, f"{SITE}b&c", "--in", "--json") == [
        f'{{"url":"{SITE}","state":"fetched"}}',
        f'{{"url":"{SITE}a","state":"fetched"}}',
    ]


def test_a_stranger_is_an_error(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="not known"):
        ask(capsys, folder.path, f"{SITE}nowhere", "--in")


def expected_edges() -> set[tuple[str, str]]:
    return {(SITE + page, SITE + target) for page, targets in EDGES.items() for target in targets}


def test_edge_list(folder: Folder, store: Store) -> None:
    text = b"".join(formats.links(folder, store, formats.LeftOut())).decode()
    assert {tuple(line.split("\t")) for line in text.splitlines()} == expected_edges()


def test_graphml(folder: Folder, store: Store) -> None:
    tree = ET.fromstring(b"".join(formats.links_graphml(folder, store, formats.LeftOut())))
    space = "{http://graphml.graphdrawing.org/xmlns}"
    urls = {node.get("id"): node.findtext(f"{space}data") for node in tree.iter(f"{space}node")}
    assert sorted(map(str, urls.values())) == sorted(SITE + name for name in STATES)
    edges = {(urls[edge.get("source")], urls[edge.get("target")]) for edge in tree.iter(f"{space}edge")}
    assert edges == expected_edges()


def test_parquet(folder: Folder, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(formats, "_ROWS_AT_ONCE", 4)
    written = b"".join(formats.links_parquet(folder, store, formats.LeftOut()))
    table = parquet.read_table(io.BytesIO(written))
    assert table.column_names == ["source", "target"]
    assert set(zip(*table.to_pydict().values(), strict=True)) == expected_edges()
    assert table.num_rows == sum(map(len, EDGES.values()))


def test_parquet_without_its_library(folder: Folder, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="pyarrow"):
        next(formats.links_parquet(folder, store, formats.LeftOut()))


def test_every_experiment_of_the_lab_has_a_command_line() -> None:
    for name in EXPERIMENTS:
        assert name in experiment_parser(name).format_usage()
