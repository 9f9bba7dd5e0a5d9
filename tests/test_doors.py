"""One installed package fills every door, and a door that is not used costs nothing."""

import importlib.metadata
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sanderling import plugins
from sanderling.documents.formats import kind_of
from sanderling.errors import BadSetting
from sanderling.freshness.policies import POLICIES, is_policy
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.server.frontier.scope import Scope
from sanderling.server.frontier.url_filters import url_filters
from sanderling.server.ranking import snapshot
from sanderling.server.ranking.orders import scores
from sanderling.settings import ORDERS, Settings, overlay
from sanderling.subscriptions import Notify
from sanderling.telling import service
from sanderling.telling.notification import Notification
from tests.conftest import FAST, Ran, Run, listed
from tests.servers import Answer, PageServer, links

PACKAGE = Path(__file__).parent / "example_plugins"
INSTALLED = {"PYTHONPATH": os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])}
NOTES = "application/x-curlew"


@pytest.fixture
def site() -> Iterator[PageServer]:
    table = {
        "/": links("/notes", "/calendar/1", "/small"),
        "/small": b"<p>small",
        "/hidden": b"<p>hidden" + b" more" * 500,
    }
    with PageServer(table) as server:
        server.table["/notes"] = Answer(f"\0CURLEW\1 a whimbrel\n{server.origin}/hidden".encode(), NOTES)
        yield server


def test_one_package_fills_every_door(
    sanderling: Run, site: PageServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*arguments: object) -> Ran:
        return sanderling(*arguments, env=INSTALLED)

    folder, told = tmp_path / "crawl", tmp_path / "told"
    folder.mkdir()
    (folder / "sanderling.toml").write_text(f'notify = ["curlew://{told}"]\n')
    chosen = ("--extractor", "bill", "--url-filter", "no-calendar", "--fetcher", "marked", "--order", "least-linked",
              "--assignment", "alphabet")  # fmt: skip
    ran = run("crawl", site.origin, "-d", folder, *chosen, "--no-sitemaps", *FAST)
    assert ran.code == 0, ran.err
    pages = listed(run, folder)
    excluded = listed(run, folder, "--state", "excluded")
    assert excluded["/calendar/1"]["reason"] == "a URL filter says: it is a calendar"
    assert "/calendar/1" not in site.requests
    assert pages["/hidden"]["status"] == 200  # only the format says where it is
    assert pages["/notes"]["extracted"]["bill"]["length"] > 10
    assert all(each.headers.get("x-curlew") == "yes" for each in site.asked if each.url != "/robots.txt")
    assert run("search", folder, "whimbrel", "--json").lines[0]["url"].endswith("/notes")

    site.table["/hidden"] = b"<p>found" + b" much more" * 500
    site.asked.clear()
    ran = run("refresh", folder, "--policy", "largest-first", "--budget", "1", "--no-reports", *FAST)
    assert ran.code == 0, ran.err
    assert [each.url for each in site.asked if each.url != "/robots.txt"] == ["/hidden"]
    assert run("notify", folder, "--deliver").code == 0  # if the refresh did not wait for it
    assert "/hidden" in told.read_text()

    monkeypatch.syspath_prepend(PACKAGE)
    with closing(open_store(Folder(folder), readonly=True)) as store:
        known, _ = snapshot.read(store)
    assert (scores("least-linked", known) == -known.graph.in_degree).all()


def test_without_the_package_one_sentence_says_what_is_missing(
    sanderling: Run, site: PageServer, tmp_path: Path
) -> None:
    for flag, name in (("--url-filter", "no-such"), ("--fetcher", "no-such"), ("--order", "no-such")):
        ran = sanderling("crawl", site.origin, "-d", tmp_path / "crawl", flag, name)
        assert ran.code == 2 and len(ran.err.splitlines()) == 1 and "no-such" in ran.err, ran.err
    assert not (tmp_path / "crawl").exists() and not site.asked
    ran = sanderling("refresh", tmp_path, "--policy", "no-such")
    assert ran.code == 2 and "optimal, uniform" in ran.err


def test_what_is_built_in_looks_for_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", None)
    for order in ORDERS:
        overlay(Settings(), {"order": order})
    assert all(map(is_policy, POLICIES))
    assert url_filters(Settings(), Path()) == []
    assert plugins.load(plugins.FETCHERS, (), Path()) == []
    for body, mime in ((b"<p>x", "text/html"), (b"%PDF-1.4", "application/pdf"), (b"\x89PNG", "image/png")):
        kind_of(body, mime)


def test_a_filter_that_fails_keeps_the_url_with_the_error(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def strict(url):\n    raise ValueError('of no use')\n")
    filters = url_filters(Settings(url_filters=("mine.py:strict",)), tmp_path)
    scope = Scope(["http://e.org/"], Settings(), filters)
    assert scope.objection("http://e.org/a", "http://e.org") == "filtered:strict failed: ValueError: of no use"
    assert scope.objection("http://other.org/a", "http://other.org") == "other-host"
    with pytest.raises(BadSetting, match="has no function 'lax'"):
        url_filters(Settings(url_filters=("mine.py:lax",)), tmp_path)


@pytest.mark.filterwarnings("ignore:'imghdr':DeprecationWarning")  # of what Apprise imports
def test_a_target_that_fails_says_why_without_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PACKAGE)
    answer = service.notify(Notification("a", "b"), Notify("curlew:///no/secret-token/there"))
    assert not answer.taken and "No such file" in answer.error and "secret-token" not in answer.error
