"""What the dashboard and the metrics show of the machines of a cluster, with states made up."""

import re
from pathlib import Path

import pytest
import turbohtml

from sanderling.model import Counts, Live, MachineState
from sanderling.server.requests import remote
from sanderling.web import metrics
from sanderling.web.app import create_app
from sanderling.web.security import Security
from sanderling.web.shelf import Shelf
from tests.web.test_mistakes import ask

KIB = 1024
MACHINES = [
    MachineState(
        "west", 6, 6, 4.0, False, "", 9 * KIB, 8 * KIB, 7 * KIB, 1, True, 1106, 6 * KIB, 5 * KIB
    ),
    MachineState("w<2>", 4, 4, 2.0, True, "", 3 * KIB, 3 * KIB, 2 * KIB, 2, False, 52, 4 * KIB, KIB),
    MachineState("late", 0, 0, 0.0, False, "unused: no room"),
]  # fmt: skip
LIVE = Live(
    at=0.0, pid=1, seconds=9.0, paused=False, stopping=False, counts=Counts(), leased=0, waiting=0, hosts=0, pages_left=None,
    replaced=0, lists=None, pages_per_second=0.0, visits_per_second=0.0, bytes_per_second=0.0, clients=[], active=[],
    mishaps=[], machines=MACHINES,
)  # fmt: skip


@pytest.fixture
def app(crawled: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.setattr(remote, "look", lambda *_, **__: LIVE)
    monkeypatch.setattr(metrics, "in_use", lambda _: True)
    shelf = Shelf([crawled])
    yield create_app(shelf, Security(port=80)), next(iter(shelf.folders()))
    shelf.close_idle(0)


def test_the_dashboard_has_a_table_of_machines(app) -> None:  # type: ignore[no-untyped-def]
    made, crawl = app
    document = turbohtml.parse(ask(made, f"/crawls/{crawl}/live").text)
    (table,) = [each for each in document.find_all("div") if each.attrs.get("id") == "machine-table"]
    head, *rows = ([cell.text.strip() for cell in row.find_all(["th", "td"])] for row in table.find_all("tr"))
    assert head == ["Name", "Level", "Clients", "Held", "Archived", "Sent", "Up", "Down"]
    assert rows == [
        ["west relay", "1", "6 of 6", "1,106", "8.0 KiB", "7.0 KiB", "6.0 KiB", "5.0 KiB"],
        ["w<2> away", "2", "4 of 4", "52", "3.0 KiB", "2.0 KiB", "4.0 KiB", "1.0 KiB"],
        ["late (unused: no room)", "1", "0 of 0", "0", "0 B", "0 B", "0 B", "0 B"],
    ]


def test_the_metrics_have_the_figures_of_machines(app) -> None:  # type: ignore[no-untyped-def]
    made, crawl = app
    text = ask(made, "/metrics").text
    of = f'crawl="{crawl}",machine="west",level="1"'
    found = dict(re.findall(rf"^sanderling_machine_(\w+)\{{{of}\}} (\d+)$", text, re.MULTILINE))
    assert found == {
        "clients": "6", "held": "1106", "sent_bytes_total": "7168", "up_bytes_total": "6144",
        "down_bytes_total": "5120",
    }  # fmt: skip
    assert f'sanderling_machine_held{{crawl="{crawl}",machine="w<2>",level="2"}} 52\n' in text
