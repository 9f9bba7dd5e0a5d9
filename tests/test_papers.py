"""Office documents of a site: they are searched, compared and followed like its pages."""

from pathlib import Path

from tests.conftest import FAST, Run, listed
from tests.papers import LONG_LINK, READABLE, edited, paper
from tests.servers import Answer, PageServer, links


def test_office_documents_are_crawled_like_pages(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with PageServer({}) as server:
        server.table["/protected"] = Answer(paper("protected.xlsx"), "application/octet-stream")
        server.table["/"] = links("/protected", *(f"/{name}" for name in READABLE))
        targets = {}
        for name in READABLE:
            path = targets[name] = f"/from-{name}/".ljust(len(LONG_LINK) - len(server.origin), "x")
            body = edited(paper(name), {LONG_LINK: server.origin + path})
            server.table |= {f"/{name}": Answer(body, "application/octet-stream"), path: b"reached"}
        ran = sanderling("crawl", server.origin, "-d", folder, *FAST)
        assert ran.code == 0, ran.err
        assert set(targets.values()) <= {each.url for each in server.asked}
        pages = listed(sanderling, folder)
        assert pages["/protected"]["reason"] == "kept unread: a password protects it"
        assert {pages[f"/{name}"]["title"] for name in READABLE} == {
            "Tides & birds",
            "Counts & waders",
            "Waders & more",
        }
        found = sanderling("search", folder, "curlew", "--json").lines
        texts = {each["url"].rpartition("/")[2] for each in found}
        assert texts == set(READABLE) - {"tides.rtf", "waders.odp"}, "which repeat others"

        for name in READABLE:
            body = edited(server.table[f"/{name}"].body, {"curlew": "plover"})  # type: ignore[union-attr]
            server.table[f"/{name}"] = Answer(body, "application/octet-stream")
        sanderling("crawl", "-d", folder, "--again")
        assert sanderling("search", folder, "curlew", "--json").lines == []
        for name in READABLE:
            told = sanderling("diff", folder, f"{server.origin}/{name}").out
            changed = [line for line in told.splitlines() if line.lstrip().startswith(("- ", "+ "))]
            assert len(changed) == 2, told
            assert "The curlew" in changed[0] and "The plover" in changed[1]
