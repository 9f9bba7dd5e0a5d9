import json
import math
from pathlib import Path

import numpy as np
import pytest

from lab import experiment_parser, parallel, webs
from lab.ordering import ORDERS, PaperCrawl, at_percent, compare, gathered, mean_shares
from sanderling.errors import UsageError
from sanderling.graph import Graph, pagerank
from sanderling.model import Commit, Counts, Host, NewUrl, Outcome, Settled, State, Visit
from sanderling.repository.sqlite import SqliteStore
from sanderling.urls import identity
from tests.servers import PageServer, links, redirect


@pytest.fixture(scope="module")
def web() -> webs.Web:
    return webs.synthetic(pages=1500, hosts=8)


def test_the_synthetic_web_is_connected_and_every_link_stands_once(web: webs.Web) -> None:
    start = np.zeros(len(web.graph.ids), np.bool_)
    start[web.seeds] = True
    assert webs._reachable(web.graph, start).all()
    for page in range(0, len(start), 97):
        targets = web.graph.links_of(page).tolist()
        assert len(set(targets)) == len(targets)
        assert page not in targets


def test_the_in_degrees_of_the_synthetic_web_follow_zipf() -> None:
    links = np.sort(webs.synthetic().graph.in_degree)[::-1]
    ranks = np.arange(20, 500)
    slope = np.polyfit(np.log(ranks), np.log(links[ranks]), 1)[0]
    assert slope == pytest.approx(-0.8, abs=0.08)


@pytest.mark.parametrize("lists", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_every_order_visits_every_page_once_and_only_after_a_link_to_it(web: webs.Web, order, lists) -> None:  # type: ignore[no-untyped-def]
    visits = PaperCrawl(web, order, lists).run()
    assert sorted(visits) == list(range(len(web.graph.ids)))
    known = set(web.seeds)
    for page in visits:
        assert page in known
        known.update(web.graph.links_of(page).tolist())


def test_breadth_first_goes_level_by_level(web: webs.Web) -> None:
    crawl = PaperCrawl(web, "breadth-first", lists=False)
    depths = [int(crawl._depth[page]) for page in crawl.run()]
    assert depths == sorted(depths)


def test_importance_comes_earlier_than_by_breadth_and_never_before_the_ideal(web: webs.Web) -> None:
    curves = compare(web)["best first"]
    for order in ORDERS:
        assert all(at_percent(curves["ideal"], x) >= at_percent(curves[order], x) - 1e-9 for x in (10, 30, 50))
        assert at_percent(curves[order], 100) == pytest.approx(1)
    assert at_percent(curves["pagerank"], 30) > at_percent(curves["breadth-first"], 30)
    means = mean_shares([{"best first": curves, "three lists": curves}])
    assert means["best first"]["ideal"] == max(means["best first"].values())


def test_gathering() -> None:
    curve = gathered([2, 0, 1], np.array([1.0, 1.0, 2.0]))
    assert curve.tolist() == [0, 0.5, 0.75, 1]
    assert [at_percent(curve, x) for x in (0, 33, 100)] == [0, 0.5, 1]


def test_how_crawlers_work_together(web: webs.Web) -> None:
    pages = len(web.graph.ids)
    teams = {team.team: team for team in parallel.compare(web, 5)}
    for team in teams.values():
        assert team.downloads == team.repeated + team.distinct <= pages
    assert teams["independent"].repeated > 0
    assert teams["independent"].most_for_one_page <= 5
    assert teams["firewall"].repeated == teams["firewall"].messages == 0
    assert teams["firewall"].distinct < pages
    assert teams["seed-server"].distinct == teams["ours"].distinct == pages
    assert teams["seed-server"].messages == 2 * pages
    assert teams["ours"].messages <= 2 * (math.ceil(pages / parallel.BATCH) + 10 * 5)
    assert teams["ours"].urls_sent < teams["seed-server"].urls_sent
    assert teams["ours"].quality == pytest.approx(1)
    assert teams["ours"].turns < teams["firewall"].turns


def test_a_part_of_a_graph() -> None:
    graph = Graph(np.array([10, 20, 30, 40]), np.array([0, 2, 4, 5, 5]), np.array([1, 2, 0, 3, 1], np.int32))
    nodes = np.array([True, True, False, True])
    found = webs.part(graph, nodes, np.array([True, True, True, True]))
    assert found.ids.tolist() == [10, 20, 40]
    assert [found.links_of(n).tolist() for n in range(3)] == [[1], [0, 2], []]
    quiet = webs.part(graph, nodes, np.array([False, True, False, False]))
    assert quiet.out_degree.tolist() == [0, 2, 0]
    assert len(pagerank(quiet)) == 3


def crawled(folder: Path, edges: dict[str, list[str]]) -> None:
    """The folder of a finished crawl of a small web."""
    (folder / "sanderling.toml").touch()
    store = SqliteStore(folder / "sanderling.db")
    ids = {name: identity(f"http://e.org/{name}") for name in edges}
    rows = [
        NewUrl(id, f"http://e.org/{name}", 7, min(len(name), 1), State.QUEUED, 0.0, 0, 0, "", "")
        for name, id in ids.items()
    ]
    store.seed([], rows, [Host(7, "http://e.org")], Counts())
    visits = [
        Visit(id=ids[name], outcome=Outcome.PAGE, status=200, at=1.0,
              links=np.array([ids[target] for target in targets], np.int64).tobytes())
        for name, targets in edges.items()
    ]  # fmt: skip
    settled = [Settled(visit.id, State.FETCHED, 0, 0.0, "") for visit in visits]
    store.commit(Commit("c", 1, [], settled, visits, [], {}, Counts()))
    store.close()


def test_the_web_of_a_crawl_folder_and_its_sites(tmp_path: Path) -> None:
    crawled(tmp_path, {"": ["a/1", "b/1"], "a/1": ["a/2", ""], "a/2": ["a/1"], "b/1": [], "lost": ["a/1"]})
    (web,) = webs.find(str(tmp_path))
    assert sorted(web.urls) == [f"http://e.org/{name}" for name in ("", "a/1", "a/2", "b/1")]
    assert [web.urls[seed] for seed in web.seeds] == ["http://e.org/"]
    found = {site.name.split(": ")[1]: site for site in webs.sites(web)}
    assert {name: len(site.urls) for name, site in found.items()} == {"a": 2, "b": 1}
    assert [found["a"].urls[seed] for seed in found["a"].seeds] == ["http://e.org/a/1"]
    assert len(found["a"].graph.targets) == 2


def test_sitemaps_are_no_pages_and_links_to_other_names_are_links(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    table = {
        "/": links("/old"),
        "/old": redirect("/new", 301),
        "/new": b"<p>what is there",
        "/sitemap.xml": b"<urlset/>",
    }
    with PageServer(table) as server:
        assert sanderling("crawl", server.origin, "-d", tmp_path / "crawl", "--delay", "0").code == 0
        assert server.requests["/sitemap.xml"] == 1
    (web,) = webs.find(str(tmp_path / "crawl"))
    assert [url.removeprefix(server.origin) for url in web.urls] == ["/", "/new"]
    assert web.seeds == [0]
    assert web.graph.links_of(0).tolist() == [1]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    crawled(tmp_path, {"": ["1", "2"], "1": ["2", ""], "2": ["1", "3"], "3": []})
    parser = experiment_parser("ordering")
    options = parser.parse_args(["--web", str(tmp_path), "--crawlers", "2", "--json"])
    assert options.run(options) == 0
    report = json.loads(capsys.readouterr().out)
    (shown,) = report["webs"]
    assert shown["pages"] == 4
    assert set(shown["orders"]["three lists"]) == {*ORDERS, "ideal"}
    assert shown["orders"]["best first"]["pagerank"].keys() == {"10", "20", "30", "50"}
    assert [team["team"] for team in shown["parallel"]] == ["independent", "firewall", "seed-server", "ours"]
    assert report["winner"]["best first"] in ORDERS
    options = parser.parse_args(["--web", str(tmp_path), "--web", str(tmp_path)])
    assert options.run(options) == 0
    assert "Mean of all shares on these 2 webs" in capsys.readouterr().out


def test_a_plot_that_cannot_be_written_is_refused_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = experiment_parser("ordering").parse_args(["--plot", str(tmp_path / "nowhere" / "plot.png")])
    with pytest.raises(UsageError):
        options.run(options)
    assert capsys.readouterr().out == ""


def test_a_folder_without_pages_is_refused(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "sanderling.db").close()
    with pytest.raises(UsageError, match="visited"):
        webs.find(str(tmp_path))
