"""What the lab says about pages that are cut short, on a small documentation web."""

from pathlib import Path

from sanderling.testing.prose import sentences
from tests.conftest import FAST, Run
from tests.servers import PageServer, links

MINE, OTHERS, LONG = 36, 66, 10


def page(number: int, words: str, length: int, *targets: str) -> bytes:
    text = "".join(f"<p>{sentence}</p>" for sentence in sentences(number + 1)[:1000])[:length]
    return (
        f"<title>{words}</title>{words} {words}".encode() + links(*targets[:-1]) + text.encode() + links(*targets[-1:])
    )


def documentation() -> dict[str, bytes]:
    """Pages about transactions, and others of which some are long. The long ones end with a link to
    another page."""
    mine = [f"/html/mvcc{n}.html" for n in range(MINE)]
    others = [f"/html/other{n}.html" for n in range(OTHERS)]
    table = {"/": links(*mine[::2], *others[:LONG])}
    for n, path in enumerate(mine):
        table[path] = page(n, "transaction isolation snapshot rollback", 1500, mine[(n + 1) % MINE], others[n])
    for n, path in enumerate(others):
        size = 60_000 if n < LONG else 1500
        table[path] = page(100 + n, f"kitchen recipe {n}", size, "/", others[(n + LONG) % OTHERS])
    return table


def test_cutting_saves_bytes_and_says_what_it_loses(sanderling: Run, tmp_path: Path) -> None:
    with PageServer(documentation()) as server:
        assert sanderling("crawl", f"{server.origin}/", "-d", tmp_path / "c", *FAST, "--no-sitemaps").code == 0
    [found] = sanderling("lab", "cutting", tmp_path / "c", "--seeds", 1, "--json").json
    assert found["topic"] == "transactions"
    assert found["on_topic"] == MINE - 20
    assert 0 < found["cut"] < 0.2
    assert found["saved"][-1] > 0.3
    assert found["recall"][-1] >= found["recall_cut"][-1] > 0.5
    shown = sanderling("lab", "cutting", tmp_path / "c", "--seeds", 1)
    assert "bytes a page saved" in shown.out
    # The same folder serves as the web of `lab focus`.
    [figures] = sanderling("lab", "focus", "--web", tmp_path / "c", "--seeds", 2, "--first-seed", 7, "--json").json
    assert figures["pages"] == 1 + MINE + OTHERS
    assert set(figures["recall"]) == {"breadth-first", "pagerank", "best-first", "fish", "shark", "topic"}
