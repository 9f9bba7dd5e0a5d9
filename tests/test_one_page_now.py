"""One page of the web, without a crawl that stays: `read` and `shell`."""

import subprocess
import sys

from tests.conftest import Run
from tests.servers import PageServer
from tests.waiting import PATIENCE


def test_reading_a_page_now(sanderling: Run) -> None:
    with PageServer({"/": b"<title>T</title><nav>menu</nav><main><h1>Knots</h1><p>They <b>run</b>.</main>"}) as server:
        read = sanderling("read", server.origin)
        assert read.code == 0 and read.out == "# Knots\n\nThey **run**.\n", read.err
        missing = sanderling("read", f"{server.origin}/nothing")
        assert missing.code == 1 and "no seed could be fetched" in missing.err


def test_a_shell_with_a_page() -> None:
    pages = {"/": b"<title>T</title><h1>Knots</h1><a href=/b>b</a>", "/b": b"<h1>Dunlin</h1>"}
    with PageServer(pages) as server:
        typed = (
            f"print(css('h1')[0].text, page.links[0].url)\nfetch('{server.origin}/b')\nprint(xpath('//h1/text()'))\n"
        )
        command = [sys.executable, "-m", "sanderling", "shell", server.origin]
        ran = subprocess.run(command, input=typed, capture_output=True, text=True, timeout=PATIENCE)
        assert ran.returncode == 0, ran.stderr
        assert f"Knots {server.origin}/b" in ran.stdout and "['Dunlin']" in ran.stdout
