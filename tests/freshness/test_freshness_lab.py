"""The lab command: conventions, errors by line, and the shapes of its answers."""

import argparse
import gzip
import json
from pathlib import Path

import pytest

from lab import freshness as lab
from lab.simulation.history import HistoryError, PageHistory, read
from lab.simulation.pickers import PICKERS
from lab.simulation.replay import replay
from lab.simulation.synthetic import blog
from sanderling.errors import UsageError
from sanderling.presenting.plot import plot, table

HEADER = "page,event,at,text_changed,main_changed\n"


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    lab.add_arguments(parser)
    return lab.run(parser.parse_args(arguments))


@pytest.fixture
def history(tmp_path: Path) -> Path:
    rows = []
    for page in blog(3, pages=40, days=400):
        rows.append((page.born, f"{page.url},created,{page.born * 86400:.0f},1,1"))
        rows += [(at, f"{page.url},changed,{at * 86400:.0f},1,0") for at in page.changes]
    path = tmp_path / "site.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write(HEADER + "\n".join(row for _, row in sorted(rows)) + "\n")
    return path


def test_json_names_every_policy(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--history", str(history), "--budget", "0.05", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert [p["policy"] for p in answer["policies"]] == list(PICKERS)
    for policy in answer["policies"]:
        assert 0 < policy["freshness"] <= 1 and 0 <= policy["caught"] <= 1 and policy["visits"] > 0


def test_several_budgets_give_a_plot_and_visits_for_equal_freshness(
    history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("--history", str(history), "--budget", "0.02", "0.1", "--policy", "uniform", "optimal", "--weights", "depth")
    out = capsys.readouterr().out
    assert "o optimal" in out and "Visits for the freshness" in out


def test_a_budget_of_nothing_keeps_nothing_fresh(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--history", str(history), "--budget", "0", "--policy", "uniform") == 0
    assert "nothing is fresh" in capsys.readouterr().out
    with pytest.raises(UsageError, match="negative"):
        run("--history", str(history), "--budget", "-1")


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ("a,created,1,1,1\na,changed,x,1,1\n", "line 3: at is 'x'"),
        ("a,created,5,1,1\na,changed,4,1,1\n", "line 3: time goes backwards"),
        ("a,changed,5,1,1\n", "line 2: a is changed before it was created"),
        ("a,created,5,1,1\na,renamed,6,1,1\n", "line 3: event is 'renamed'"),
        ("a,created,5,1,1\na,changed,6,yes,1\n", "line 3: text_changed is 'yes'"),
        ("a,created,5\n", "line 2: it has 3 fields, but the header has 5"),
        ("a,created,5,1,1\n", "no page has a change"),
    ],
)
def test_a_history_with_errors_names_the_line(tmp_path: Path, lines: str, complaint: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(HEADER + lines)
    with pytest.raises(UsageError) as error:
        run("--history", str(path))
    assert complaint in str(error.value) and "\n" not in str(error.value)


def test_files_that_are_no_histories(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n")
    (tmp_path / "x.csv.gz").write_bytes(b"not gzip")
    for name, complaint in (("x.csv", "lacks at, event, page"), ("x.csv.gz", "cannot be read"), ("no.csv", "cannot")):
        with pytest.raises(HistoryError, match=complaint):
            read(tmp_path / name)


def test_deleted_pages_come_back_changed(tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    day = 86400
    path.write_text(
        HEADER
        + f"a,created,{day},1,1\na,changed,{2 * day},1,0\na,deleted,{3 * day},1,1\na,created,{4 * day},1,1\n"
        + f"b,created,{5 * day},1,1\nb,deleted,{6 * day},1,1\n"
    )
    a, b = read(path)
    assert a.changes == [2.0, 4.0] and a.gone == float("inf") and b.gone == 6.0
    assert read(path, "main_changed")[0].changes == [4.0]


def test_replay_measures_exactly_what_it_says() -> None:
    """One page, visited every ten days, changed on day 95 of 100: stale for the last five of
    seventy."""
    page = PageHistory("a", 0.0, float("inf"), [85.0, 100.0])
    result = replay([page], "uniform", 0.1)
    assert result.visits == 7
    assert result.freshness == pytest.approx(1 - 5 / 70)
    assert result.age == pytest.approx(5 * 5 / 2 / 70)


def test_the_published_revisit_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--scenario", "revisit", "--json") == 0
    found = {p["policy"]: p for p in json.loads(capsys.readouterr().out)["policies"]}  # the larger budget
    assert found["uniform"]["found"] == 1.0 and found["uniform"]["visits"] == 2000
    for optimal in (found["optimal for freshness"], found["optimal for changes"]):
        assert optimal["visits"] == found["by rank"]["visits"] == 800
        assert optimal["found"] > found["by rank"]["found"]


def test_simulated_pages_are_told_as_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--synthetic", "blog", "--budget", "0.01", "--policy", "uniform", "--json") == 0
    (uniform,) = json.loads(capsys.readouterr().out)["policies"]
    assert uniform["visits"] > 0


def test_several_scenarios_in_one_run(
    history: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One scenario serves a site and keeps it fresh over HTTP."""
    monkeypatch.setattr(lab, "_ROUNDS", 5)
    few = ("--pages", "30", "--budget", "0.1", "--policy", "uniform", "all", "oracle")
    run("--scenario", "served", "history", "revisit", "--history", str(history), *few, "--json")
    served, replayed, revisited = json.loads(capsys.readouterr().out)["scenarios"]
    assert [each["scenario"] for each in (served, replayed, revisited)] == ["served", "history", "revisit"]
    uniform, everything = served["policies"]
    assert (uniform["policy"], everything["policy"]) == ("uniform", "all")
    assert 69 <= uniform["visits"] <= 72 and everything["visits"] == 90
    assert abs(uniform["predicted"] - uniform["true_then"]) < 0.2 and everything["predicted"] is None
    assert [each["policy"] for each in replayed["policies"]] == ["uniform", "all", "oracle"]
    with pytest.raises(UsageError, match="needs a --history"):
        run("--scenario", "history")


def test_tables_and_plots() -> None:
    assert table([["a", 1.0], ["bb", 12345]], ["name", "n"]).splitlines()[-1] == "bb    12,345"
    drawn = plot({"one": [(0, 0), (1, 1)], "two": [(0, 1)]}, "x", "y")
    assert "* one" in drawn and "o two" in drawn
    assert plot({}, "x", "y") == "(nothing to plot)"
