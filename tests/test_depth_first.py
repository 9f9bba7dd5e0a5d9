"""`--order depth-first`: what a page leads to comes before the pages beside it."""

from pathlib import Path

from tests.conftest import FAST, Run
from tests.servers import PageServer, links


def test_a_tree_is_visited_branch_by_branch(sanderling: Run, tmp_path: Path) -> None:
    tree = {"/": [f"/{a}/" for a in "abc"]}
    tree |= {f"/{a}/": [f"/{a}/{b}/" for b in "abc"] for a in "abc"}
    tree |= {f"/{a}/{b}/": [f"/{a}/{b}/{c}" for c in "abc"] for a in "abc" for b in "abc"}
    pages = {path: links(*below) for path, below in tree.items()}
    pages |= {leaf: b"<p>" + leaf.encode() for below in tree.values() for leaf in below if leaf not in tree}
    with PageServer(pages) as server:
        crawl = (
            "crawl",
            server.origin + "/",
            "-d",
            tmp_path / "c",
            "--order",
            "depth-first",
            "--no-sitemaps",
            "--no-hold",
        )
        # It goes on where it was.
        assert sanderling(*crawl, "--max-pages", 7, *FAST).code == 0
        assert sanderling(*crawl, "--max-pages", 100, *FAST).code == 0
        asked = [each.url for each in server.asked if each.url in pages]
    assert sorted(asked) == sorted(pages)
    # The links of a page are visited from the last to the first.
    below, order = [*tree], ["/"]

    def walk(path: str) -> None:
        for each in reversed(tree.get(path, [])):
            order.append(each)
            walk(each)

    walk(below[0])
    assert asked == order
