"""The mark of pages that were read with a session: it lasts, it is shown, and it keeps them in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.clock import DAY
from tests.conftest import Run
from tests.members import Members
from tests.test_login import KNOWN, QUICK, folder_with, members_in, with_secrets
from tests.web.served import Served, running
from tests.web.test_pages import tree


def test_a_refresh_reads_with_the_session(tmp_path: Path, sanderling: Run) -> None:
    with Members(5) as site:
        folder = folder_with(tmp_path / "c", site)
        sanderling("crawl", "-d", folder, *QUICK, env=KNOWN)
        asked = len(site.asked)
        site.member_text = "the tide came in"
        ran = sanderling("refresh", folder, "--budget", 50, env={**KNOWN, "SANDERLING_AHEAD": str(40 * DAY)})
        assert ran.code == 0, ran.err
        again = [each for each in site.asked[asked:] if each.path.startswith("/members/")]
        assert len({each.path for each in again}) == 5 and len(with_secrets(again)) == len(again)
        assert len(site.logins) == 2  # one for each run
    pages = sanderling("pages", folder, "--json").lines
    assert len(members_in(pages)) == 5 and all(page["login"] for page in pages if page["status"])
    assert len(sanderling("changes", folder, "--json").lines) == 5
    assert not sanderling("feed", folder, "--json").lines


def test_recover_keeps_the_mark(tmp_path: Path, sanderling: Run) -> None:
    with Members(3) as site, Members(1) as other:
        site.extra["/open"] = "<title>Open</title>"
        other.extra["/"] = "<title>Other</title>"
        site.extra["/"] = f"<title>Front</title><a href=/members/2>2</a> <a href={other.origin}/>other</a> Log out"
        folder = folder_with(tmp_path / "c", site, more='scope = "any"\nallow_private = true')
        sanderling("crawl", "-d", folder, *QUICK, env=KNOWN)
    before = {page["title"]: page["login"] for page in sanderling("pages", folder, "--json").lines if page["title"]}
    assert before["Member 2"] and not before["Other"]
    for name in ("sanderling.db", "sanderling.db-wal", "sanderling.db-shm"):
        (folder / name).unlink(missing_ok=True)
    assert sanderling("recover", folder).code == 0
    after = {page["title"]: page["login"] for page in sanderling("pages", folder, "--json").lines if page["title"]}
    assert after == before
    assert b"Member 2" not in sanderling("feed", folder, "--baseline").out.encode()


def test_a_redirect_to_another_origin_carries_nothing_of_the_session(tmp_path: Path, sanderling: Run) -> None:
    """Neither the page it leads to, nor a login whose answer leads away."""
    with Members(1) as other, Members(1) as site:
        other.extra["/there"] = "<title>There</title>"
        site.moved["/away"] = f"{other.origin}/there?from=members"
        site.extra["/"] = "<title>Front</title><a href=/away>away</a> <a href=/members/0>0</a> Log out"
        folder = folder_with(tmp_path / "c", site, more='scope = "any"\nallow_private = true\ncookies = true')
        sanderling("crawl", "-d", folder, *QUICK, env=KNOWN)
        (away,) = [each for each in site.asked if each.path == "/away"]
        assert with_secrets([away])
        assert [each.path for each in other.asked if each.path == "/there"] and not with_secrets(other.asked)
        referers = {each.headers.get("referer", "") for each in other.asked}
        assert not any("members" in each for each in referers)
    marks = {page["title"]: page["login"] for page in sanderling("pages", folder, "--json").lines if page["title"]}
    assert marks == {"Front": True, "Member 0": True, "There": False}


def test_parquet_leaves_marked_pages_out(tmp_path: Path, sanderling: Run) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with Members(3) as site:
        folder = folder_with(tmp_path / "c", site)
        sanderling("crawl", "-d", folder, *QUICK, env=KNOWN)
    for options, shown in (((), False), (("--with-login",), True)):
        out = tmp_path / "links.parquet"
        assert sanderling("export", folder, "--format", "parquet", "-o", out, "--force", *options).code == 0
        told = str(parquet.read_table(out).to_pylist())
        assert ("/members/2" in told) is shown, options


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, sanderling: Run) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("marked")
    with Members(3) as site:
        folder = folder_with(home / "members", site)
        assert sanderling("crawl", "-d", folder, *QUICK, env=KNOWN).code == 0
        site.member_text = "the tide came in"
        sanderling("crawl", "-d", folder, *QUICK, "--again", env=KNOWN)
    with running(home) as served:
        yield served


def test_the_feeds_of_the_dashboard_leave_marked_pages_out(server: Served) -> None:
    for feed in ("/crawls/members/changes.atom", "/api/v1/crawls/members/feed.atom"):
        answer = server.http.get(feed)
        assert answer.status_code == 200 and "<feed" in answer.text
        assert "Member" not in answer.text and "tide" not in answer.text, feed
    changes = server.http.get("/api/v1/crawls/members/changes").json()["items"]
    assert len([each for each in changes if "/members/2" in each["url"]]) == 1


def test_the_dashboard_and_its_api_show_the_mark(server: Served) -> None:
    pages = server.http.get("/api/v1/crawls/members/pages").json()["items"]
    (page,) = [each for each in pages if each["url"].endswith("/members/2")]
    assert server.http.get(f"/api/v1/crawls/members/pages/{page['id']}").json()["login"] is True
    text = " ".join(tree(server, f"/crawls/members/pages/{page['id']}").text.split())
    assert "Read with your login" in text and "it stays out of exports and feeds" in text
