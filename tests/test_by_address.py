"""Hosts at one address are visited as if they were one host."""

from itertools import pairwise
from pathlib import Path

import pytest

from tests.conftest import Run, stored_urls
from tests.servers import PageServer

NAMES = ["127.0.0.1", "localhost", *(f"{letter}.localhost" for letter in "abc")]  # libcurl itself knows *.localhost


@pytest.mark.parametrize("more", [[], ["--ignore-robots"]])
def test_one_pause_for_all(sanderling: Run, tmp_path: Path, more: list[str]) -> None:
    with PageServer({}) as site:
        homes = " ".join(f"<a href='http://{name}:{site.port}/'>{name}</a>" for name in NAMES)
        pages = " ".join(f"<a href='/{n}'>{n}</a>" for n in range(3))
        site.table |= {"/": f"<title>Home</title>{homes} {pages}".encode()}
        site.table |= {f"/{n}": f"<title>{n}</title><p>The page {n}.".encode() for n in range(3)}
        flags = [
            "--by-address",
            "--delay",
            "0.1s",
            "--clients",
            "1",
            "--no-sitemaps",
            "--scope",
            "any",
            "--allow-private",
        ]
        ran = sanderling("crawl", site.origin, "-d", tmp_path / "c", *flags, *more)
        assert ran.code == 0, ran.err
        assert len(stored_urls(tmp_path / "c")) == 4 * len(NAMES)
        times = [asked.at for asked in site.asked]
        assert len(times) == len(NAMES) * (4 if more else 5)
        assert min(later - earlier for earlier, later in pairwise(sorted(times))) >= 0.1
