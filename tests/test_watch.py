"""`sanderling watch`: single pages, visited at their own interval, and told by mail."""

import signal
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from sanderling.cli.watch import _NO_PLAN
from sanderling.server.revisits.refresher import Beside, refreshing
from sanderling.settings import load
from tests.conftest import Run, started
from tests.servers import ThreadedServer
from tests.telling.test_notify import Mailbox, mailbox  # noqa: F401  a fixture
from tests.waiting import until


class Shop(ThreadedServer):
    """A page with a price and a link that nobody watches."""

    def __init__(self) -> None:
        self.price, self.asked = "79.00", list[str]()
        shop = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                shop.asked.append(self.path)
                body = f"<title>Kettle</title><p>{len(shop.asked)} visits</p><b class=price>{shop.price}</b><a href=/other>x</a>"
                self.send_response(200 if self.path.startswith("/p/") else 404)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(Handler)
        self.url = f"http://127.0.0.1:{self.port}/p/7"


@pytest.fixture
def shop() -> Iterator[Shop]:
    with Shop() as found:
        yield found


def test_a_price_is_watched_and_told_by_mail(
    sanderling: Run,
    tmp_path: Path,
    shop: Shop,
    mailbox: tuple[Mailbox, str],  # noqa: F811
) -> None:
    folder, (box, address) = tmp_path / "w", mailbox
    assert "79.00" in sanderling("watch", "test", shop.url, "--select", ".price").out
    added = sanderling(
        "watch",
        shop.url,
        "--select",
        ".price",
        "--number",
        "falls",
        "--every",
        "1s",
        "--title",
        "The kettle",
        "--notify",
        address,
        "-d",
        folder,
    )
    assert "now: 79.00" in added.out
    with started("watch", "run", "-d", folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as service:
        until(lambda: sum(path == "/p/7" for path in shop.asked) >= 4)
        assert box.mails == []  # the counter is not watched, and the first version is no news
        for versions, shop.price in ((2, "82.00"), (3, "75.00")):  # that it rises is not asked for
            until(lambda versions=versions: len(sanderling("history", folder, shop.url, "--json").lines) == versions)
        until(lambda: bool(box.mails))
        service.send_signal(signal.SIGTERM)
        assert service.wait(60) == 0
    (mail,) = box.mails
    assert mail["Subject"].startswith("The kettle: ")
    text = mail.get_body(("plain",)).get_content()
    assert shop.url in text and "→ 75.00" in text and "→ 82.00" not in text  # from 79 if nobody looked meanwhile
    assert "/other" not in shop.asked
    (row,) = sanderling("changes", folder, "--json").lines
    # Many visits with another counter, and a version for each price.
    assert len(sanderling("history", folder, shop.url, "--json").lines) == 3
    assert row["url"] == shop.url


def test_watches_are_listed_edited_paused_and_removed(sanderling: Run, tmp_path: Path, shop: Shop) -> None:
    folder = tmp_path / "w"
    for number in (7, 8):
        sanderling("watch", f"{shop.url[:-1]}{number}", "-d", folder, "--tag", "shop")
    sanderling("watch", "edit", shop.url, "-d", folder, "--every", "10m", "--select", ".price")
    sanderling("watch", "pause", shop.url, "-d", folder)
    first, second = sanderling("watch", "list", "-d", folder, "--json").lines
    assert (first["every"], first["select"], first["paused"]) == (600.0, [".price"], True)
    assert "every 10 min, only .price, #shop, paused" in sanderling("watch", "list", "-d", folder).out
    sanderling("watch", "resume", shop.url, "-d", folder)
    sanderling("watch", "remove", second["url"], "-d", folder)
    settings, seeds = load(folder / "sanderling.toml")
    assert [(each.url, each.paused) for each in settings.watch] == [(shop.url, False)]
    assert seeds == (shop.url,)
    assert settings.max_depth == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nonsense"], "is not a URL"),
        (["https://e.org/", "--every", "soon"], "is not a duration"),
        (["https://e.org/", "--select", "["], "is not a valid selector"),
        (["https://e.org/", "--select", "//b["], "is not a valid selector"),
        (["https://e.org/", "--select", "$["], "is not a valid selector"),
        (["https://e.org/", "--must", "("], "is not a valid pattern"),
        (["https://e.org/", "--number", "below ten"], "number must be"),
        (["https://e.org/", "--script", "/nowhere.js"], "is not a file"),
        (["https://e.org/", "--notify", "nobody"], "notify must be a list of addresses"),
        (["pause", "https://e.org/"], "is not watched"),
        (["pause"], "needs the URL"),
        (["run"], "nothing is watched"),
    ],
)
def test_bad_input_gets_one_sentence_and_keeps_nothing(
    sanderling: Run, tmp_path: Path, arguments: list[str], why: str
) -> None:
    ran = sanderling("watch", *arguments, "-d", tmp_path / "w")
    assert ran.code in (1, 2) and why in ran.err
    assert "Traceback" not in ran.err
    assert not (tmp_path / "w" / "sanderling.toml").exists()


def test_watches_need_no_plan(tmp_path: Path) -> None:
    """Making one takes a process as large as the rest of a turn."""
    refresher = refreshing(tmp_path, tmp_path, _NO_PLAN, (), Beside())
    refresher.step(0.0)
    assert not refresher.schedule._job.out
    assert not refresher.progress(0).planned
