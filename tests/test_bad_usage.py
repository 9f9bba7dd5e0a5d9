"""Mistakes of users: each is answered with one sentence."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from sanderling.cli import main
from sanderling.server.requests.control import amend_file
from sanderling.settings import load
from tests.conftest import FAST, Run, said
from tests.servers import PageServer, closed, links


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., None]:
    """Runs a command that must print one sentence and end with exit code 2 or another given one."""

    def run(says: str, *arguments: object, code: int = 2) -> None:
        assert main([str(each) for each in arguments]) == code
        out, err = capsys.readouterr()
        assert says in err
        assert err.startswith("sanderling: ")
        assert err.count("\n") == 1
        assert err[:-1].isprintable()
        assert len(err) < 1000
        assert out == ""

    return run


@pytest.mark.parametrize(
    ("seed", "says"),
    [
        ("http://no-such-host.invalid/", "'no-such-host.invalid' cannot be a seed: the host name cannot be resolved"),
        ("no-such-host.invalid", "cannot be resolved"),
        ("http://" + "a" * 64 + ".invalid/", "cannot be a seed"),
        ("http://", "'http://' cannot be a seed: it is not a valid URL"),
        ("http://[", "not a valid URL"),
        ("http://exa mple.org/", "not a valid URL"),
        ("http://example.org:99999/", "not a valid URL"),
        ("", "not a valid URL"),
        ("   ", "not a valid URL"),
        ("/etc/passwd", "not a valid URL"),
        ("mailto:someone@example.org", "cannot be a seed"),
        ("http://someone:secret@example.org/a@b", "http://example.org/a@b cannot be a seed with a user name"),
        ("file:///etc/passwd", "the scheme 'file' is not http, https, ftp or gopher"),
        ("dict://127.0.0.1/", "the scheme 'dict' is not"),
        ("http://\u202e\x1b[2J/", "not a valid URL"),
        ("http://127.0.0.1/\udcff", "not a valid URL"),
        ("http://127.0.0.1/" + "a" * 100_000, "it is longer than 8,192 characters"),
        ("a" * 100_000, "cannot be a seed"),
        ("http://127.0.0.1/a\thttp://127.0.0.1/b", "there is a tab or the end of a line in it"),
    ],
)
def test_bad_seeds(refused: Callable[..., None], tmp_path: Path, seed: str, says: str) -> None:
    refused(says, "crawl", seed, "-d", tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_a_mistake_at_the_real_command_line(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    ran = sanderling("crawl", "file:///etc/passwd", "-d", tmp_path / "c", "--include", "(")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    ran = sanderling("crawl", "http://127.0.0.1:9", "-d", tmp_path / "c", "--include", "(")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert not (tmp_path / "c").exists()


def test_no_seed_and_bad_seed_files(refused: Callable[..., None], tmp_path: Path) -> None:
    folder, seeds = tmp_path / "c", tmp_path / "seeds.txt"
    refused("nothing to crawl", "crawl", "-d", folder)
    refused("cannot be read: No such file", "crawl", "--seeds", seeds, "-d", folder)
    seeds.write_text("# nothing\n\n")
    refused("names no URL", "crawl", "--seeds", seeds, "-d", folder)
    seeds.write_bytes(b"\xff\xfe\x00nonsense \x1b[2J\n")
    refused("not a valid URL", "crawl", "--seeds", seeds, "-d", folder)
    seeds.write_text("http://127.0.0.1:9/\n\nnot a URL\n")
    refused(f"{seeds}, line 3: 'not a URL' cannot be a seed", "crawl", "--seeds", seeds, "-d", folder)
    assert not folder.exists()


def test_seeds_as_people_write_them(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    files = {
        "mark": "\ufeff{}\r\n# no more\r\n",
        "remark": "{}  # where it begins\n",
        "bookmarks": "<!DOCTYPE NETSCAPE-Bookmark-file-1><a href='{}'>a</a><a href='http://['>b</a>",
    }
    with PageServer({"/": b"<p>fine"}) as server:
        for name, text in files.items():
            (tmp_path / f"{name}.txt").write_text(text.format(f"{server.origin}/"))
            ran = sanderling("crawl", "--seeds", tmp_path / f"{name}.txt", "-d", tmp_path / name, "--json")
            assert (ran.code, ran.json["pages"], ran.json["known"]) == (0, 1, 1), name


def test_seeds_that_do_not_answer_are_a_run_that_failed(sanderling, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with closed() as gone:
        ran = sanderling("crawl", gone, "-d", tmp_path / "c", "--retries", 0)
    assert (ran.code, said(ran.err)) == (1, ["sanderling: not one page could be fetched"])
    assert "the host cannot be reached" in ran.out


def test_a_crawl_that_was_complete_boasts_of_no_speed(sanderling, crawled: Path) -> None:  # type: ignore[no-untyped-def]
    first, second, *_ = sanderling("crawl", "-d", crawled).out.splitlines()
    assert "/s" not in first.replace(str(crawled), "")
    assert second.startswith("nothing was left to fetch; `sanderling refresh")


def test_folders_that_are_not_ours(refused: Callable[..., None], tmp_path: Path) -> None:
    url = "http://127.0.0.1:9/"
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "summer.jpg").write_bytes(b"")
    file = tmp_path / "file"
    file.write_text("")
    refused("is not a crawl folder and not empty", "crawl", url, "-d", photos)
    refused("is not a folder", "crawl", url, "-d", file)
    refused("does not exist", "crawl", url, "-d", tmp_path / "a" / "b")
    for name in ("status", "pages", "join"):
        refused("is not a crawl folder", name, photos)
        refused("is not a folder", name, file)
        refused("does not exist", name, tmp_path / "nowhere")
    assert [path.name for path in photos.iterdir()] == ["summer.jpg"]
    assert main(["crawl", url, "-d", str(tmp_path / ("x" * 300))]) == 1


@pytest.fixture(scope="module")
def crawled(sanderling, tmp_path_factory: pytest.TempPathFactory) -> Path:  # type: ignore[no-untyped-def]
    folder: Path = tmp_path_factory.mktemp("crawled") / "crawl"
    pages = [f"/{number}" for number in range(40)]
    with PageServer({"/": links(*pages), **dict.fromkeys(pages, b"<p>fine")}) as server:
        assert sanderling("crawl", server.origin, "-d", folder, *FAST).code == 0
    return folder


@pytest.fixture
def finished(crawled: Path, tmp_path: Path) -> Path:
    """A crawl folder that a test may damage."""
    return Path(shutil.copytree(crawled, tmp_path / "crawl"))


def test_databases_that_cannot_be_used(refused: Callable[..., None], finished: Path) -> None:
    database = finished / "sanderling.db"
    with sqlite3.connect(database) as db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
    db.close()
    for name in ("status", "pages"):
        refused("was written by a newer Sanderling", name, finished)
    refused("was written by a newer Sanderling", "crawl", "-d", finished)
    for damage in (b"this is no database at all" * 400, b"SQLite format 3\x00" + b"\xff" * 8000):
        for path in finished.glob("sanderling.db*"):
            path.unlink()
        database.write_bytes(damage)
        for arguments in (("status", finished), ("pages", finished), ("crawl", "-d", finished)):
            refused(f"{database} cannot be read", *arguments, code=1)


def test_a_database_damaged_in_the_middle(capsys: pytest.CaptureFixture[str], finished: Path) -> None:
    database = finished / "sanderling.db"
    sqlite3.connect(database).execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
    content = database.read_bytes()
    database.write_bytes(content[:8192] + b"\xff" * (len(content) - 8192))
    for arguments in (["pages", str(finished)], ["crawl", "-d", str(finished)]):
        assert main(arguments) == 1
        _, err = capsys.readouterr()
        assert err.count("\n") == 1
        assert "damaged" in err or "cannot be read" in err


def test_a_database_that_is_lost_costs_no_archive(refused: Callable[..., None], finished: Path) -> None:
    archives = {path: path.read_bytes() for path in (finished / "warc").iterdir()}
    for path in finished.glob("sanderling.db*"):
        path.unlink()
    for _ in range(2):  # the first try leaves a new database
        refused("and the crawl's database is empty: restore it from a backup", "crawl", "-d", finished, code=1)
    assert {path: path.read_bytes() for path in (finished / "warc").iterdir()} == archives


def test_archives_that_are_damaged_or_missing(sanderling: Run, finished: Path) -> None:
    """Nothing is exported of them, which is said; `tests/test_check.py` has what can be done."""
    export = ("export", finished, "--format", "jsonl", "-o", "-")
    for path in (finished / "warc").iterdir():
        path.write_bytes(b"\xff" * path.stat().st_size)
    ran = sanderling(*export)
    assert (ran.code, ran.out) == (1, "")
    assert "is damaged at byte" in ran.err
    shutil.rmtree(finished / "warc")
    ran = sanderling(*export)
    assert (ran.code, ran.out) == (1, "")
    assert "is missing" in ran.err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("max_page = 3", "unknown setting 'max_page'"),
        ("[section]\nx = 1", "unknown setting 'section'"),
        ("max_pages = -3", "max_pages = -3 is not a whole number, 0 or more"),
        ("max_pages = 1.5", "is not a whole number"),
        ("delay = 'soon'", "delay = 'soon' is not a duration such as 10s"),
        ("delay = nan", "is not a duration"),
        ("max_time = inf", "is not a duration"),
        ("max_body = '16 parsecs'", "is not a size such as 64KiB"),
        ("cookies = 'yes'", "is not true or false"),
        ("scope = 'galaxy'", "is not one of host, domain, prefix, any"),
        ("include = 'x'", "is not a list of texts"),
        ("exclude = ['']", "none of them empty"),
        ("skip_types = ['*']", "is not a list of media types such as video/"),
        ("delay_factor = true", "is not a number, 0 or more"),
        ("max_time = 1e300", "is more than 36,500 days"),
        ("max_bytes = '" + "9" * 400 + "'", "is not a size"),
        ("max_pages = " + "9" * 5000, "is not valid TOML"),
        ("include = " + "[" * 5000, "is not valid TOML"),
        ("user_agent = 'Strandläufer/1'", "must be ASCII"),
        ("contact = 'büro@example.org'", "must be ASCII"),
        ("user_agent = ' '", "user_agent is empty"),
        ("proxy = 'http://127.0.0.1:99999'", "is not an http://, https://, socks5:// or socks5h:// address"),
        ("max_pagse = 3", "unknown setting 'max_pagse'; did you mean max_pages?"),
        ("[[webhook]]\nurl = 'http://exa mple/'", "url must begin with http:// or https:// and a host"),
        ("include = ['(']", "'(' is not a valid pattern"),
        ("connections = 0", "has to be more than 0"),
        ("proxy = 'carrier-pigeon://x'", "is not an http://, https://, socks5:// or socks5h:// address"),
        ("seeds = 3", "seeds is not a list of texts"),
        ("this is no TOML", "is not valid TOML"),
    ],
)
def test_bad_settings(refused: Callable[..., None], tmp_path: Path, line: str, says: str) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "sanderling.toml").write_text(line)
    refused(says, "crawl", "http://127.0.0.1:9/", "-d", folder)
    assert [path.name for path in folder.iterdir()] == ["sanderling.toml"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--max-pages", "many"), "is not a whole number"),
        (("--exclude", "["), "is not a valid pattern"),
        (("--first-byte-timeout", "0"), "has to be more than 0"),
        (("--proxy", "nowhere"), "is not an http://"),
        (
            ("--store", "postgresql://"),
            "store = 'postgresql://' is not an address such as postgresql://user@host/database",
        ),
        (("--connect-timeout", "0.01ms"), "has to be more than 0"),
        (("--exclude", "\udcff"), "is not a list of texts of one line"),
        (("--include", "(" * 50_000), "is not a valid pattern"),
    ],
)
def test_bad_flags(refused: Callable[..., None], tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    refused(says, "crawl", "http://127.0.0.1:9/", "-d", tmp_path / "c", *arguments)
    assert not (tmp_path / "c").exists()


def test_settings_that_are_not_in_utf8_or_begin_with_a_mark(refused: Callable[..., None], finished: Path) -> None:
    settings = finished / "sanderling.toml"
    text = settings.read_text()
    settings.write_text("\ufeff" + text)
    amend_file(settings, {"max_pages": 7})
    assert load(settings)[0].max_pages == 7
    settings.write_bytes(text.encode("utf-16"))
    refused("is not in UTF-8: save it as UTF-8", "crawl", "-d", finished)


def test_rules_with_a_bad_pattern(sanderling, finished: Path) -> None:  # type: ignore[no-untyped-def]
    with (finished / "sanderling.toml").open("a") as file:
        file.write("[[rules]]\nurls = '('\n")
    before = sorted(path.name for path in finished.iterdir())
    ran = sanderling("crawl", "-d", finished)
    assert (ran.code, ran.err) == (2, "sanderling: rules: '(' is not a valid pattern: missing ): (\n")
    assert sorted(path.name for path in finished.iterdir()) == before  # no socket of a crawl that never ran


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("changes", "--since", ""), "'' is not a point in time"),
        (("digest", "--since", "99999999999999d"), "is not a point in time"),
        (("search", "word", "--at", "2026-02-30"), "is not a point in time"),
        (("search", "word", "--limit", "1001"), "limit = 1001 is not between 1 and 1,000"),
        (("search", "word", "--page", "1001"), "the first 10,000 hits can be shown"),
        (("history", "not a URL"), "'not a URL' is not a URL"),
        (("links", "not a URL", "--in"), "'not a URL' is not a URL"),
        (
            ("links", "http://127.0.0.1:9/\x1b[2J", "--in"),
            "is not known in this crawl; `sanderling pages` lists what is",
        ),
        (("blame", "http://127.0.0.1:9/"), "is not known in this crawl"),
        (("feed", "--address", "nowhere"), "--address 'nowhere' is not an http:// or https:// address"),
        (("refresh", "--budget", "0.5"), "--budget 0.5 is less than one visit"),
    ],
)
def test_questions_that_make_no_sense(
    refused: Callable[..., None], finished: Path, arguments: tuple[str, ...], says: str
) -> None:
    shutil.rmtree(finished / "index", ignore_errors=True)
    refused(says, arguments[0], finished, *arguments[1:])
    assert not (finished / "index").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("pages", "x", "--limit", "-1"), "argument --limit: '-1' is not a whole number, 0 or more"),
        (("pages", "x", "--limit", "1e3"), "'1e3' is not a whole number"),
        (("search", "x", "word", "--limit", "0"), "'0' is not a whole number, 1 or more"),
        (("search", "x", "word", "--page", "0"), "'0' is not a whole number, 1 or more"),
        (("diff", "x", "http://127.0.0.1/", "0"), "'0' is not a whole number, 1 or more"),
        (("changes", "x", "--min-significance", "nan"), "'nan' is not a number from 0 to 1"),
        (("digest", "x", "--min-significance", "2"), "'2' is not a number from 0 to 1"),
        (("serve", "x", "--port", "65536"), "'65536' is not a port"),
        (("status", ""), "argument dir: the path is empty"),
        (("crawl", "-d", " "), "the path is empty"),
        (("crawl", "--no-such-flag"), "crawl does not take '--no-such-flag'; see `sanderling crawl --help`"),
        (("pages", "x", "--held", "--state", "failed"), "not allowed with argument"),
        (("pages", "x", "--near"), "--near works only with --json"),
        (("changes", "x", "--host", "a b"), "'a b' is not a host name such as example.org"),
        (("search", "x", "word", "--host", ""), "'' is not a host name"),
        (("status",), "the following arguments are required: dir; see `sanderling status --help`"),
        (("lab", "ordering", "--crawlers", "0"), "1 or more; see `sanderling lab ordering --help`"),
        (("lab", "change-codes", "--edits", "-1"), "'-1' is not a whole number, 1 or more"),
        (("lab", "freshness", "--scenario", "served", "--pages", "0"), "'0' is not a whole number, 1 or more"),
        (("lab", "freshness", "--seed=-1"), "'-1' is not a whole number, 0 or more"),
        (("--no-such-flag", "crawl"), "'--no-such-flag' is no command; see `sanderling --help`"),
        (("no-such-command",), "there is no command 'no-such-command'; see `sanderling --help`"),
        (("craw", "http://e.org/"), "there is no command 'craw'; did you mean crawl?; see `sanderling --help`"),
        (("crawl", "--max-pagse", "5"), "crawl does not take '--max-pagse'; did you mean --max-pages?; see"),
        (("crawl", "--dealy=0"), "crawl does not take '--dealy=0'; did you mean --delay?; see"),
    ],
)
def test_arguments_that_do_not_fit(refused: Callable[..., None], arguments: tuple[str, ...], says: str) -> None:
    refused(says, *arguments)


def test_a_page_named_without_its_scheme(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (url,) = load(crawled / "sanderling.toml")[1]
    for name in ("history", "blame"):
        assert main([name, str(crawled), url.removeprefix("http://")]) == 0
    assert main(["links", str(crawled), url.removeprefix("http://"), "--out"]) == 0


def test_a_host_named_by_an_address(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (url,) = load(crawled / "sanderling.toml")[1]
    for host in (url, url.removeprefix("http://"), "127.0.0.1"):
        assert main(["changes", str(crawled), "--baseline", "--host", host]) == 0
        assert url in capsys.readouterr().out
        assert main(["search", str(crawled), "*", "--host", host]) == 0
        assert url in capsys.readouterr().out
    assert main(["changes", str(crawled), "--baseline", "--host", "127.0.0.1:9"]) == 0
    assert capsys.readouterr().out == ""


def test_a_server_that_could_not_be_used(refused: Callable[..., None], crawled: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("$argon2id$v=19$m=1$broken\n")
    refused("begins like an argon2 hash but is not valid", "serve", crawled, "--port", 0, "--password-file", secret)
    secret.write_bytes(b"\xff\xfe")
    refused(f"{secret} cannot be read: it is not text", "serve", crawled, "--port", 0, "--password-file", secret)
    refused(f"{tmp_path} cannot be read: Is a directory", "serve", crawled, "--port", 0, "--password-file", tmp_path)
    with PageServer({}) as server:
        port = server.origin.rpartition(":")[2]
        refused("Address already in use; choose another port", "serve", crawled, "--port", port)


def test_a_refresh_of_a_folder_that_lost_its_settings(sanderling, finished: Path) -> None:  # type: ignore[no-untyped-def]
    (finished / "sanderling.toml").unlink()
    assert sanderling("refresh", finished, "--budget", 1, "--retries", 0).code == 0


def test_a_folder_where_a_url_belongs(
    refused: Callable[..., None], crawled: Path, monkeypatch: pytest.MonkeyPatch, sanderling: Run
) -> None:
    monkeypatch.chdir(crawled.parent)
    refused(f"`sanderling crawl -d {crawled.name}` resumes the crawl in that folder", "crawl", crawled.name)
    assert sanderling("status", crawled, "--json").json["known"] == 41
