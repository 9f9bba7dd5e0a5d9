"""`sanderling diff` compares two versions by the same rules and the same learned noise as the crawl
did."""

from pathlib import Path

from tests.conftest import Run
from tests.servers import Answer, PageServer

FAST = ["--delay", "0", "--clients", "1"]


def test_a_diff_says_what_the_stored_change_says(sanderling: Run, tmp_path: Path) -> None:
    """Parts that a rule ignores are neither counted nor named, and shown in grey when the user
    asks."""
    folder, shown = tmp_path / "crawl", {"n": 0, "news": "Calm seas today"}

    def page(_: int) -> bytes:
        shown["n"] = int(shown["n"]) + 1
        return (
            f"<h1>Harbour</h1><p>{shown['news']}</p><p>Boats come and go</p><p>End</p>"
            f"<div class=ad><p>number {3000 + int(shown['n'])}</p><p>ad {shown['n']} of many</p></div>"
        ).encode()

    with PageServer({"/": page}) as server:
        url = server.origin + "/"
        sanderling("crawl", url, "-d", folder, *FAST, "--max-pages", 1)
        with (folder / "sanderling.toml").open("a") as file:
            file.write('rules = [{ ignore = [".ad"] }]\n')
        shown["news"] = "A storm is coming"
        sanderling("crawl", "-d", folder, "--again")
        (stored,) = sanderling("changes", folder, "--kind", "text", "--json").lines
        assert stored["summary"].startswith("1 of 4 paragraphs changed")
        told = sanderling("diff", folder, url).out
        assert told.splitlines()[2].strip().startswith(stored["summary"])
        assert "number" not in told
        grey = sanderling("diff", folder, url, "--noise").out
        assert grey.splitlines()[2] == told.splitlines()[2]
        assert "\n  ~ - number 3001\n  ~ + number 3002\n" in grey
        assert "\n  + A storm is coming\n" in grey
        assert "\x1b[90m  ~ - number" in sanderling("diff", folder, url, "--noise", "--color", "always").out
        assert 'class="noise"' in sanderling("diff", folder, url, "--noise", "--html").out


def test_learned_noise_is_not_in_the_headline_of_a_diff(sanderling: Run, tmp_path: Path) -> None:
    folder, news = tmp_path / "crawl", {"now": "Calm seas today"}

    def page(n: int) -> bytes:
        return f"<h1>Harbour</h1><p>{news['now']}</p><p>Visitors:</p><p>number {3000 + n}</p><p>End</p>".encode()

    with PageServer({"/": page}) as server:
        url = server.origin + "/"
        sanderling("crawl", url, "-d", folder, *FAST, "--max-pages", 1)
        for _ in range(5):
            sanderling("crawl", "-d", folder, "--again")
        last = sanderling("history", folder, url, "--json").lines[-1]
        assert not last["news"]
        told = sanderling("diff", folder, url).out
        assert last["summary"] in told
        assert "number" not in told
        assert "1 changed paragraph is noise and not shown; --noise shows it" in told
        news["now"] = "A storm is coming"
        sanderling("crawl", "-d", folder, "--again")
        last = sanderling("history", folder, url, "--json").lines[-1]
        assert last["news"]
        told = sanderling("diff", folder, url).out
        assert told.splitlines()[2].strip().startswith(last["summary"])
        assert "number" not in told
        assert "\n  + A storm is coming\n" in told


def test_a_page_that_is_gone_left_with_all_of_its_text(sanderling: Run, tmp_path: Path) -> None:
    """Also with the text at a place that is known to be noise."""
    folder = tmp_path / "crawl"
    with PageServer({"/": lambda n: f"<p>number {3000 + n}</p><p>End</p>".encode()}) as server:
        url = server.origin + "/"
        sanderling("crawl", url, "-d", folder, *FAST, "--max-pages", 1)
        for _ in range(4):
            sanderling("crawl", "-d", folder, "--again")
        assert "number" not in sanderling("diff", folder, url).out
        server.table["/"] = Answer(b"", status=410)
        sanderling("crawl", "-d", folder, "--again")
        assert "\n  - number 3005\n  - End\n" in sanderling("diff", folder, url).out


def test_nodes_are_counted_on_each_level_of_the_tree(sanderling: Run, tmp_path: Path) -> None:
    folder, shown = tmp_path / "crawl", {"now": "<ul><li>one</ul><hr>"}
    with PageServer({"/": lambda _: f"<p>Harbour</p>{shown['now']}".encode()}) as server:
        url = server.origin + "/"
        sanderling("crawl", url, "-d", folder, *FAST, "--max-pages", 1)
        alone = sanderling("diff", folder, url, "--json")
        assert (alone.code, alone.out) == (2, "") and "only one version" in alone.err
        shown["now"] = "<ul><li>one<li>two<li><b>three</b></ul>"
        sanderling("crawl", "-d", folder, "--again")
        told = sanderling("diff", folder, url, "--kinds").out
        assert "levels        3 (1 deleted), 4 (2 inserted), 5 (1 inserted)\n" in told
        found = sanderling("diff", folder, url, "--kinds", "--json").json
        assert (found["a"], found["b"], found["inserted"], found["deleted"]) == (1, 2, ["li", "li"], ["hr"])
        assert found["kinds"] == ["structure", "text"] and "items" not in found
        assert found["levels"] == [
            {"level": 3, "inserted": 0, "deleted": 1},
            {"level": 4, "inserted": 2, "deleted": 0},
            {"level": 5, "inserted": 1, "deleted": 0},
        ]
        items = sanderling("diff", folder, url, "--json").json["items"]
        assert [(each["kind"], each["new"]) for each in items if each["kind"] != "same"] == [
            ("added", "two"), ("added", "three"),
        ]  # fmt: skip
