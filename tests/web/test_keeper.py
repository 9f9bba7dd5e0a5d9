"""Folders get their turns: watches at their intervals, refreshes with their budgets."""

import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from sanderling.errors import BadSetting
from sanderling.settings import is_quiet, read_value
from sanderling.web.keeper import FAILED, Keeper, _part
from sanderling.web.shelf import Shelf
from tests.conftest import Run, started
from tests.test_watch import Shop
from tests.waiting import until


@pytest.mark.parametrize(
    ("budget", "part"),
    [("2000/h", ("333", 600.0)), ("1/d", ("1", 86400.0)), ("50MB/h", ("8333333B", 600.0)), ("12/d", ("1", 7200.0))],
)
def test_the_budget_of_a_turn(budget: str, part: tuple[str, float]) -> None:
    assert _part(budget) == part


@pytest.mark.parametrize(
    ("hours", "at", "quiet"),
    [
        ("22:00-06:30", "23:10", True),
        ("22:00-06:30", "06:30", False),
        ("09:00-17:00", "12:00", True),
        ("", "12:00", False),
    ],
)
def test_quiet_hours(hours: str, at: str, quiet: bool) -> None:
    assert is_quiet(hours, time.mktime(time.strptime(f"2026-11-02 {at}", "%Y-%m-%d %H:%M"))) is quiet


@pytest.mark.parametrize(("name", "value"), [("quiet", "night"), ("quiet", "25:00-06:00"), ("keep_fresh", "200")])
def test_a_wrong_setting_is_refused(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=name):
        read_value(name, value)


def test_a_folder_that_fails_is_no_health(tmp_path: Path) -> None:
    (tmp_path / "sanderling.toml").write_text('keep_fresh = "100/h"\nquiet = "00:00-23:59"\n')
    keeper = Keeper(Shelf([tmp_path]))
    keeper.step()  # it rests
    (kept,) = keeper.kept()
    assert kept.lane == "refresh" and not kept.runs and not keeper.problem()
    kept.failures = FAILED
    assert keeper.problem() == f"the last 3 turns of {tmp_path.name} failed"


def test_a_server_visits_the_watches_of_its_folders(sanderling: Run, tmp_path: Path) -> None:
    with Shop() as shop:
        folder = tmp_path / "crawls" / "shop"
        sanderling("watch", shop.url, "--select", ".price", "--every", "1s", "-d", folder)
        visited = len(shop.asked)
        ports = ("--port", 0, "--archive-port", 0)
        with started("serve", tmp_path / "crawls", *ports, "--keep-fresh", stdout=subprocess.PIPE) as server:
            home = next(word for word in server.stdout.readline().split() if word.startswith("http"))
            until(lambda: shop.asked[visited:].count("/p/7") >= 2)
            shop.price = "75.00"
            until(lambda: "79.00 → 75.00" in sanderling("changes", folder, "--json").out)
            with urllib.request.urlopen(home + "health") as answer:
                assert answer.read() == b"ok\n"
            with urllib.request.urlopen(home + "metrics") as answer:
                turns = [
                    line for line in answer.read().decode().splitlines() if line.startswith("sanderling_turns_total{")
                ]
        assert len(turns) == 1 and float(turns[0].split()[-1]) >= 2
