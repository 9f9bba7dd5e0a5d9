import struct
import sys
import time
from pathlib import Path

import pytest

from sanderling.model import Commit, Counts, Host, NewUrl, Outcome, Settled, State, Visit
from sanderling.repository.sqlite import SqliteStore
from sanderling.server.frontier.distributor import Distributor
from sanderling.server.ranking import reranker
from sanderling.server.ranking.reranker import BATCH, NOTHING, RankBatch, RankResult, Reranker, read, write
from sanderling.urls import identity
from tests.waiting import PATIENCE

# Writes a result of the form the job writes, or dies.
JOB = """
import sys, struct
from pathlib import Path
from sanderling.server.ranking.reranker import RankResult, write
if sys.argv[1] == "die":
    sys.exit("no memory left")
records = b"".join(struct.pack("<qd", n, n / 2) for n in range(int(sys.argv[1])))
write(Path(sys.argv[2]), RankResult(int(sys.argv[1]), 1, [3.0, 2.0], 0.0), records + struct.pack("<qd", 5, 0.5))
"""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reranker, "SHORTEST_PAUSE", 0.0)


def made(tmp_path: Path, what: str, order: str = "pagerank") -> Reranker:
    return Reranker(order, [sys.executable, "-c", JOB, what], tmp_path / "ranks")


def steps(one: Reranker, fetched: int) -> list[RankBatch]:
    """All steps of one job."""
    batches: list[RankBatch] = []
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        batch = one.step(fetched)
        if batch is not NOTHING:
            batches.append(batch)
        elif batches or one._job.complaint:
            break
        time.sleep(0.001)
    return batches


def test_results_are_written_whole_and_read_in_batches(tmp_path: Path) -> None:
    head = RankResult(2, 1, [1.5], 1.0)
    write(tmp_path / "r", head, struct.pack("<qdqdqd", -5, 0.25, 7, -1.0, 7, 0.5))
    found, batches = read(tmp_path / "r")
    assert found == head
    assert list(batches) == [RankBatch([(-5, 0.25), (7, -1.0)], []), RankBatch([], [(7, 0.5)])]
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_a_job_runs_beside_and_its_ranks_come_in_bounded_batches(tmp_path: Path) -> None:
    one = made(tmp_path, str(BATCH * 2 + 1))
    assert [one.rank(depth) for depth in (0, 1, 5)] == [0, -1, -5]
    batches = steps(one, 100)
    assert [len(batch.ranks) for batch in batches] == [BATCH, BATCH, 1, 0]
    assert batches[2:] == [RankBatch([(2 * BATCH, float(BATCH))], []), RankBatch([], [(5, 0.5)])]
    assert [one.rank(depth) for depth in (0, 1, 5)] == [3.0, 2.0, 2.0]
    one.step(105)
    assert not one._job.out  # the crawl has not grown enough
    one.step(120)
    assert one._job.out
    one.close()
    assert not one._job.out


def test_too_few_pages_and_breadth_first_start_no_job(tmp_path: Path) -> None:
    few, none = made(tmp_path, "1"), made(tmp_path, "1", "breadth-first")
    assert few.step(reranker.FEWEST_PAGES - 1) == none.step(10_000) == NOTHING
    assert not few._job.out
    assert not none._job.out


def test_a_job_that_fails_says_why_and_harms_nothing(tmp_path: Path) -> None:
    one = made(tmp_path, "die")
    assert steps(one, 100) == []
    assert one._job.complaint == "no memory left"
    assert one.rank(2) == -2.0
    one.close()


def test_from_links_to_leases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real job on a real store: URLs with many links get a higher rank and are leased first."""
    monkeypatch.setattr(reranker, "FEWEST_PAGES", 10)
    urls = [f"http://e.org/{n}" for n in range(60)]
    ids = [identity(url) for url in urls]
    (tmp_path / "sanderling.toml").touch()
    store = SqliteStore(tmp_path / "sanderling.db")
    rows = [NewUrl(id, url, 7, 1, State.QUEUED, -1.0, 0, 0, "", "") for id, url in zip(ids, urls, strict=True)]
    store.seed([], rows, [Host(7, "http://e.org")], Counts())
    visits = [
        Visit(id=ids[n], outcome=Outcome.PAGE, status=200, at=1.0 + n, links=struct.pack("<2q", ids[42], ids[20 + n]))
        for n in range(10)
    ]
    settled = [Settled(visit.id, State.FETCHED, 0, 0.0, "") for visit in visits]
    store.commit(Commit("c", 1, [], settled, visits, [], {}, Counts()))
    one = Reranker(
        "pagerank", [sys.executable, "-m", "sanderling.jobs.rank", str(tmp_path), "pagerank"], tmp_path / "r"
    )
    for batch in steps(one, 10):
        store.rerank(batch.ranks)
        store.weigh(batch.importances)
    one.close()
    assert 0 < one.rank(1) < 3, one._job.complaint
    first, *_ = Distributor(store.take, store.ranks).take(7, 5, set())
    assert first.url == urls[42]
    weights = dict(store.importances())
    assert len(weights) == 10
    assert max(weights.values()) == 1.0
    assert min(weights.values()) > 0.0
    store.close()
