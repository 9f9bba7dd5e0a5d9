"""The user's own session at a site: how it is begun, kept, noticed to be over, and never shown to
anybody else."""

import asyncio
import gzip
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import sanderling as library
from sanderling.repository.address import located
from tests.applications import roundup
from tests.conftest import FAST, Run, started
from tests.members import PASSWORD, Members, Request
from tests.rendering.rendering import browser
from tests.servers import PageServer
from tests.telling.endpoint import Endpoint
from tests.waiting import until

QUICK = (*FAST, "--no-index", "--render", "never")
RECIPE = """[[login]]
page = "{origin}/login"
fields = {{ user = "ann", pass = "env:SHORE_PASSWORD" }}
shows = "Log out"
"""
KNOWN = {"SHORE_PASSWORD": PASSWORD}


def folder_with(path: Path, site: Members, text: str = RECIPE, more: str = "") -> Path:
    """A crawl folder that only has settings."""
    path.mkdir(parents=True)
    (path / "sanderling.toml").write_text(f'seeds = ["{site.origin}/"]\n{more}\n{text.format(origin=site.origin)}')
    return path


def stored_in(kept_in: list[object]) -> str:
    return f'store = "{located(str(kept_in[1]), Path("members"))}"' if kept_in else ""


def members_in(pages: list[dict[str, Any]]) -> set[str]:
    return {page["title"] for page in pages if page["title"].startswith("Member ")}


def archived(folder: Path) -> bytes:
    return b"".join(gzip.decompress(each.read_bytes()) for each in sorted(folder.glob("warc/*.warc.gz")))


def test_a_login_recipe_reads_what_only_members_see(tmp_path: Path, sanderling: Run, kept_in: list[object]) -> None:
    with Members() as site:
        folder = folder_with(tmp_path / "c", site, more=stored_in(kept_in))
        ran = sanderling("crawl", "-d", folder, *QUICK, env=KNOWN)
        assert ran.code == 0, ran.err
        pages = sanderling("pages", folder, "--json").lines
        assert len(members_in(pages)) == 12
        assert all(page["login"] for page in pages if page["status"])
        assert [each["pass"] for each in site.logins] == [PASSWORD]  # one client, one login
        asked = {each.path for each in site.asked}
        assert not asked & {"/logout", "/members/3/delete"}
        excluded = {
            page["url"]: page["reason"] for page in sanderling("pages", folder, "--json", "--state", "excluded").lines
        }
        (form,) = [page for page in pages if page["url"].endswith("/login")]
        assert (form["state"], form["reason"]) == ("failed", "it is the page to log in on")
        assert "would end the session" in excluded[f"{site.origin}/logout"]
        assert "would change something" in excluded[f"{site.origin}/members/3/delete"]
    # Nobody who reads the folder can use the session.
    kept = archived(folder) + (folder / "sanderling.toml").read_bytes()
    assert b"secret 3" in kept and b"X-Archive-Left-Out: Cookie" in kept
    assert PASSWORD.encode() not in kept and b"low+tide" not in kept and b"Cookie: sid=" not in kept
    assert not any(session.encode() in kept for session in site.sessions)


def test_pages_behind_a_login_stay_out_of_what_leaves_the_folder(tmp_path: Path, sanderling: Run) -> None:
    with Members(3) as site:
        folder = folder_with(tmp_path / "c", site)
        sanderling("crawl", "-d", folder, *QUICK, env=KNOWN)
    for kind in ("jsonl", "warc", "cdxj", "links", "graphml"):
        out = tmp_path / f"out.{kind}"
        for options, shown in (((), False), (("--with-login",), True)):
            ran = sanderling("export", folder, "--format", kind, "-o", out, "--force", *options)
            assert (ran.code, "pages read with your login left out" in ran.err) == (0, not shown), ran.err
            data = out.read_bytes()
            data = gzip.decompress(data) if kind == "warc" else data
            assert (b"/members/2" in data) is shown, (kind, options)
    sanderling("export", folder, "--format", "markdown", "-o", tmp_path / "md", "--force")
    assert not [*tmp_path.glob("md/**/*.md")]
    for command in ("feed", "digest"):
        assert "Member 2" not in sanderling(command, folder, "--baseline").out
        assert "Member 2" in sanderling(command, folder, "--baseline", "--with-login").out
    assert "/members/2" in sanderling("changes", folder, "--baseline").out


def test_the_library_gives_pages_behind_a_login_only_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def titles(folder: Path, with_login: bool) -> list[str]:
        async with library.Crawl(folder, with_login=with_login) as crawl:
            return [page.title async for page in crawl]

    monkeypatch.setenv("SHORE_PASSWORD", PASSWORD)
    given: dict[bool, list[str]] = {}
    for asked in (False, True):
        with Members(3) as site:
            folder = folder_with(tmp_path / str(asked), site, more='delay = 0\nrender = "never"\nclients = 1')
            given[asked] = asyncio.run(titles(folder, asked))
    assert given[False] == [] and {"Member 0", "Member 1", "Member 2"} <= set(given[True])


def test_a_session_that_ended_is_renewed_and_no_login_page_is_stored(tmp_path: Path, sanderling: Run) -> None:
    with Members(60, lasts=25) as site:
        folder = folder_with(tmp_path / "c", site)
        sanderling("crawl", "-d", folder, *QUICK, env=KNOWN)
        pages = sanderling("pages", folder, "--json").lines
        assert len(members_in(pages)) == 60
        assert not any("Log in" in page["title"] or page["redirect"] for page in pages)
        assert len(site.logins) == 3
        sanderling("crawl", "-d", folder, *QUICK, "--again", env=KNOWN)
        assert not sanderling("changes", folder).out
        assert len(site.logins) <= 6


def test_a_wrong_password_is_tried_once(tmp_path: Path, sanderling: Run) -> None:
    with Members() as site:
        folder = folder_with(tmp_path / "c", site)
        ran = sanderling("crawl", "-d", folder, *FAST, "--no-index", "--clients", "2", env={"SHORE_PASSWORD": "wrong"})
        assert len(site.logins) == 1
        assert "the login failed: the answer does not show 'Log out'" in ran.err
        assert not [each for each in site.asked if each.path.startswith("/members/")]
        # Another run does not try it again, whatever it wants to read.
        ran = sanderling("crawl", "-d", folder, *QUICK, "--again", env={"SHORE_PASSWORD": "wrong"})
        assert len(site.logins) == 1 and "correct it and use --retry-failed" in ran.err, ran.err
        # With the right one, nothing is lost.
        sanderling("crawl", "-d", folder, *QUICK, "--retry-failed", env=KNOWN)
        assert len(members_in(sanderling("pages", folder, "--json").lines)) == 12


def test_a_refused_login_is_tried_again_when_its_recipe_changed(tmp_path: Path, sanderling: Run) -> None:
    with Members(2) as site:
        folder = folder_with(tmp_path / "c", site, RECIPE.replace("env:SHORE_PASSWORD", "file:password.txt"))
        (folder / "password.txt").write_text("wrong")
        sanderling("crawl", "-d", folder, *QUICK)
        sanderling("crawl", "-d", folder, *QUICK, f"{site.origin}/members/0")
        assert len(site.logins) == 1
        (folder / "password.txt").write_text(PASSWORD)
        sanderling("crawl", "-d", folder, *QUICK, f"{site.origin}/members/1")
        assert len(site.logins) == 2
        assert members_in(sanderling("pages", folder, "--json").lines)


def test_a_page_that_is_never_shown_does_not_make_us_log_in_for_ever(tmp_path: Path, sanderling: Run) -> None:
    form = "<title>Rights</title><form method=post action=/login><input type=password name=pass></form>"
    closed = {f"/closed/{number}": form for number in range(30)}
    front = "".join(f"<a href={path}>x</a>" for path in closed) + "<a href=/members/1>1</a> Log out"
    with Members(2, extra={**closed, "/": front}) as site:
        folder = folder_with(tmp_path / "c", site)
        sanderling("crawl", "-d", folder, *QUICK, env=KNOWN)
        assert len(site.logins) <= 3
        pages = sanderling("pages", folder, "--json").lines
        assert not any(page["title"] == "Rights" for page in pages)
        failed = [page["reason"] for page in pages if page["state"] == "failed"]
        assert failed and {*failed} <= {
            "it shows that nobody is logged in",
            "the session has ended: pages show that nobody is logged in",
        }


def with_secrets(requests: list[Request]) -> list[Request]:
    """Those with a session. The cookie of nobody is one of the crawl."""
    kept = [each for each in requests if "sid=" in each.headers.get("cookie", "").replace("sid=nobody", "")]
    return kept + [each for each in requests if "authorization" in each.headers]


def test_nothing_of_a_session_reaches_another_origin(tmp_path: Path, sanderling: Run) -> None:
    """By links, redirects, cookies for a whole domain, or the cookies of the crawl."""
    with Members(1) as other:
        with Members(2) as site:
            # The same host name, another port: cookies of the crawl go there, those of a session do
            # not.
            site.extra["/out"] = f"<a href={other.origin}/>other</a> Log out"
            site.extra["/"] = (
                f"<a href=/out>out</a> <a href=/members/0>0</a> <a href={other.origin}/members/0>1</a> Log out"
            )
            folder = folder_with(tmp_path / "c", site, more='scope = "any"\nallow_private = true\ncookies = true')
            sanderling("crawl", "-d", folder, *QUICK, env=KNOWN)
            assert with_secrets(site.asked)
        assert len(other.asked) >= 2 and not with_secrets(other.asked)
        assert not other.logins
    login = {page["url"]: page["login"] for page in sanderling("pages", folder, "--json").lines}
    assert login[f"{other.origin}/"] is False and login[f"{site.origin}/members/0"] is True


def test_headers_are_a_session(tmp_path: Path, sanderling: Run) -> None:
    token = "Bearer " + PASSWORD.replace(" ", "-")
    with Members(4) as site:
        text = '[[login]]\norigin = "{origin}"\nheaders = {{ Authorization = "file:token.txt" }}\nshows = "Log out"\n'
        folder = folder_with(tmp_path / "c", site, text)
        (folder / "token.txt").write_text(token)
        sanderling("crawl", "-d", folder, *QUICK)
        assert len(members_in(sanderling("pages", folder, "--json").lines)) == 4
        assert not [each for each in site.asked if each.path == "/robots.txt" and "authorization" in each.headers]
        assert token.encode() not in archived(folder)
        # When it has ended, that is said, and the pages stay as they are.
        (folder / "token.txt").write_text("Bearer no-more")
        ran = sanderling("crawl", "-d", folder, *QUICK, "--again")
        assert "the session has ended" in ran.err
    assert len(members_in(sanderling("pages", folder, "--json").lines)) == 4
    assert not sanderling("changes", folder).out


def test_a_cookie_file_is_a_session(tmp_path: Path, sanderling: Run) -> None:
    with Members(4) as site:
        site.sessions["from-my-browser"] = 1000
        text = '[[login]]\norigin = "{origin}"\ncookies = "file:cookies.txt"\nshows = "Log out"\n'
        folder = folder_with(tmp_path / "c", site, text)
        cookies = folder / "cookies.txt"
        cookies.write_text("# Netscape HTTP Cookie File\nexample.org\tTRUE\t/\tFALSE\t0\tsid\tother\n")
        ran = sanderling("crawl", "-d", folder, *QUICK)
        assert ran.code == 2 and "none for this origin" in ran.err
        later = int(time.time()) + 9999
        with cookies.open("a") as file:
            file.write(f"#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t{later}\tsid\tfrom-my-browser\n")
        assert sanderling("crawl", "-d", folder, *QUICK).code == 0
        assert len(members_in(sanderling("pages", folder, "--json").lines)) == 4
        assert b"from-my-browser" not in archived(folder)


def test_a_killed_crawl_logs_in_again(tmp_path: Path, sanderling: Run) -> None:
    with Members(40) as site:
        folder = folder_with(tmp_path / "c", site)
        with started("crawl", "-d", folder, *QUICK, env=KNOWN, stderr=subprocess.DEVNULL) as process:
            until(
                lambda: (
                    len([each for each in site.asked if "/members/" in each.path]) >= 5 or process.poll() is not None
                )
            )
            os.killpg(process.pid, signal.SIGKILL)
        sanderling("crawl", "-d", folder, *QUICK, env=KNOWN)
        assert len(members_in(sanderling("pages", folder, "--json").lines)) == 40
        assert len(site.logins) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[login]]\npage = "x"', "origin or page must begin with http"),
        ('[[login]]\npage = "http://a.example/login"', "a page needs fields, and shows"),
        ('[[login]]\norigin = "http://a.example"', "give headers, cookies, or a page"),
        ('[[login]]\norigin = "http://a.example"\ncookies = "sid=1"', "cookies must be file:PATH or env:NAME"),
        ('[[login]]\norigin = "http://a.example"\nheaders = {{ Host = "b" }}', "a name that is not allowed"),
        ('[[login]]\norigin = "http://a.example"\nheader = {{ A = "b" }}', "did you mean headers?"),
        ('[[login]]\norigin = "http://a.example"\nheaders = {{ A = "env:NOT_SET_AT_ALL" }}', "is not set"),
        (RECIPE + RECIPE, "login has the same origin twice"),
        ('proxy = "http://127.0.0.1:1"\n' + RECIPE, "the proxy could read the session"),
    ],
)
def test_mistakes_get_one_clear_sentence(tmp_path: Path, sanderling: Run, text: str, said: str) -> None:
    with Members(1) as site:
        folder = folder_with(tmp_path / "c", site, text)
        ran = sanderling("crawl", "-d", folder, *QUICK, env=KNOWN)
        assert ran.code == 2 and said in ran.err and len(ran.err.strip().splitlines()) == 1
        assert PASSWORD not in ran.err and not site.asked


def test_roundup_is_logged_in_by_a_recipe_only(tmp_path: Path, sanderling: Run) -> None:
    """A real login form with CSRF protection. Forms are sent beside it, and this one is not."""
    recipe = """[[login]]
page = "{url}"
fields = {{ __login_name = "admin", __login_password = "file:password.txt" }}
shows = "Logout"
"""
    with roundup(tmp_path / "app", ["sanderling", "dunlin"]) as url:
        folder = tmp_path / "c"
        folder.mkdir()
        (folder / "sanderling.toml").write_text(f'seeds = ["{url}"]\n' + recipe.format(url=url))
        (folder / "password.txt").write_text("not-a-secret\n")
        options = (
            "--clients",
            "1",
            "--max-pages",
            "40",
            "--forms",
            "search",
            "--form-queries",
            "3",
            "--exclude",
            "[?@]",
        )
        assert sanderling("crawl", "-d", folder, *QUICK, *options).code == 0
        pages = sanderling("pages", folder, "--json").lines
        listed = sanderling("forms", folder, "--json").lines
    users = [page for page in pages if "/user" in page["url"] and page["status"] == 200]
    assert users and all(page["login"] for page in pages)
    assert not [form for form in listed if form["kind"] == "login" and form["state"] != "not sent"]
    assert b"not-a-secret" not in archived(folder)


def test_a_page_server_never_gets_what_was_not_asked_for(tmp_path: Path, sanderling: Run) -> None:
    """Without a login in the settings nothing is sent, whatever a page says."""
    with PageServer({"/": b"<form method=post action=/login><input type=password name=p></form>"}) as server:
        sanderling("crawl", server.origin + "/", "-d", tmp_path / "c", *QUICK)
        assert not [each for each in server.asked if {"cookie", "authorization"} & each.headers.keys()]


def test_what_pages_load_gets_the_session_of_their_own_origin_only(tmp_path: Path, sanderling: Run) -> None:
    """Rendered pages of the site and of another one, which load files from both."""
    browser()
    load = "<script>for (const url of %s) fetch(url).then(r => r.text()).then(t => document.body.append(t))</script>"
    with Members(1) as other, Members(1) as site:
        both = [f"{site.origin}/members/0", f"{other.origin}/members/0"]
        site.extra["/"] = f"<title>Ours</title><body>Log out <a href={other.origin}/x>x</a>" + load % both
        other.extra["/x"] = "<title>Theirs</title><body>" + load % [f"{site.origin}/members/0?from=there", both[1]]
        folder = folder_with(tmp_path / "c", site, more='scope = "any"\nallow_private = true\ncookies = true')
        options = ("--render", "always", "--clients", "1", "--no-sitemaps", *FAST, "--no-index")
        assert sanderling("crawl", "-d", folder, *options, env=KNOWN).code == 0
        assert not with_secrets(other.asked)
        there = [each for each in site.asked if each.path == "/members/0" and "/x" in each.headers.get("referer", "")]
        assert not with_secrets(there)
    pages = {page["title"]: page for page in sanderling("pages", folder, "--json").lines}
    assert pages["Ours"]["login"] and not pages["Theirs"]["login"]
    shown = archived(folder)
    assert b"secret 0" in shown
    theirs = shown[shown.index(b"<title>Theirs") :]
    assert b"secret 0" not in theirs[: theirs.index(b"WARC/1.1")]


def test_frames_of_other_sites_do_not_use_the_session(tmp_path: Path, sanderling: Run) -> None:
    """The frame that asks decides, and the frames around it. Both sites share a process of the
    browser, as their host is the same.
    """
    browser()
    tell = "finally(() => top.postMessage(1, '*'))"
    ask = "<script>fetch('%s/from/%s', {mode: 'no-cors'})." + tell + "</script>"
    with Members(1) as other, Members(1) as site:
        home = site.origin
        site.extra["/"] = (
            "<title>Ours</title><body>Log out <script>let n = 9; onmessage = () => --n || document.body.append("
            "Object.assign(document.createElement('p'), {id: 'answered'}))</script><iframe src=/inner></iframe>"
            f"<iframe src={other.origin}/x></iframe>"
            f'<iframe srcdoc="{ask % (home, "srcdoc")}"></iframe>'
            f'<iframe sandbox=allow-scripts srcdoc="{ask % (home, "sandboxed-text")}"></iframe>'
            "<iframe sandbox=allow-scripts src=/sandboxed></iframe>"
            f"<script>new Worker(URL.createObjectURL(new Blob(['fetch(\"{home}/from/worker\").finally(() => postMessage(1))'])))"
            ".onmessage = () => onmessage()</script>"
        )
        site.extra["/inner"] = "<body>Log out" + ask % ("", "inner")
        site.extra["/sandboxed"] = "<body>Log out" + ask % ("", "sandboxed-file")
        site.extra["/nested"] = "<body>Log out" + ask % ("", "nested-in-theirs")
        other.extra["/x"] = (
            f"<body><iframe name=sink onload=\"this.contentDocument || top.postMessage(1, '*')\"></iframe>"
            f"<iframe src={home}/nested></iframe>"
            f"<form method=post target=sink action='{home}/from/posted'></form>{ask % (home, 'theirs')}"
            f"<script>document.forms[0].submit(); fetch('{home}/from/fetched', {{method: 'POST', mode: 'no-cors'}})"
            f".{tell}</script>"
        )
        folder = folder_with(tmp_path / "c", site, more="allow_private = true\ncookies = true\nmax_pages = 1")
        options = (
            "--render",
            "always",
            "--wait-for",
            "#answered",
            "--clients",
            "1",
            "--no-sitemaps",
            *FAST,
            "--no-index",
        )
        assert sanderling("crawl", "-d", folder, *options, env=KNOWN).code == 0
        asked = {each.path for each in site.asked if each.path.startswith("/from/")}
        private = {each.path for each in with_secrets(site.asked) if each.path.startswith("/from/")}
    named = ("sandboxed-text", "sandboxed-file", "theirs", "nested-in-theirs", "posted", "fetched")
    own = {f"/from/{name}" for name in ("inner", "srcdoc", "worker")}
    assert asked == own | {f"/from/{name}" for name in named}
    assert private == own


def test_webhooks_are_told_of_pages_behind_a_login_only_when_asked(tmp_path: Path, sanderling: Run) -> None:
    for asked in (False, True):
        with Members(2) as site, Endpoint() as endpoint:
            hook = f'[[webhook]]\nurl = "{endpoint.url}"\nallow_private = true\nbaseline = true\nlogin = {str(asked).lower()}\n'
            folder = folder_with(tmp_path / str(asked), site, RECIPE + hook)
            sanderling("crawl", "-d", folder, *QUICK, env=KNOWN)
            assert bool(endpoint.posted) is asked
