"""Runs every command and every Python example of the documentation, on a synthetic web."""

import re
import shlex
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import sanderling as package
from sanderling.settings import DECLARED, ORDERS
from sanderling.testing import DAY, ServedWeb, SyntheticWeb
from sanderling.testing.sitemap import EPOCH
from tests.conftest import Run, started
from tests.servers import PageServer
from tests.telling.test_notify import Mailbox, mailbox  # noqa: F401  a fixture
from tests.test_watch import Shop
from tests.toscrape import books, quotes
from tests.waiting import PATIENCE, until

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture(scope="module")
def site() -> Iterator[ServedWeb]:
    with SyntheticWeb(pages=60).serve() as served:
        yield served


@pytest.fixture(scope="module")
def application(site: ServedWeb) -> Iterator[ServedWeb]:
    """A single-page application with the clock of the other site."""
    with SyntheticWeb(pages=8, change_rate=0.2).serve(application=True) as served:
        served.clock = site.clock
        yield served


@pytest.fixture(scope="module")
def topical() -> Iterator[ServedWeb]:
    """Pages about five topics."""
    with SyntheticWeb(pages=200, topics=5, locality=0.8).serve() as served:
        yield served


@pytest.fixture(scope="module")
def practice() -> Iterator[dict[str, str]]:
    """Sites of the shape of those that the tutorials name."""
    with PageServer(quotes()) as first, PageServer(books()) as second:
        yield {"https://quotes.toscrape.com/": f"{first.origin}/", "https://books.toscrape.com/": f"{second.origin}/"}


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands(
    path: Path, site: ServedWeb, application: ServedWeb, topical: ServedWeb, practice: dict[str, str], sanderling: Run,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    local = {"http://localhost:8080/": site.url, "http://localhost:8090/": application.url}
    served = {**local, "http://localhost:8070/": topical.url, **practice}
    for block in blocks(path, "python"):  # examples that are files of their own begin with their name
        if named := re.match(r"# (\w+\.py)$", block, re.MULTILINE):
            (tmp_path / named[1]).write_text(block)
    for block in blocks(path, "html"):
        if named := re.search(r"^<!-- (\w+\.html) -->$", block, re.MULTILINE):
            (tmp_path / named[1]).write_text(_there(block, served))
    for block in blocks(path, "console"):
        for line in re.findall(r"^(?:\$ (?=sanderling)|(?=\(\d+ days pass\)))(.*)$", block, re.MULTILINE):
            if pass_by := re.match(r"\((\d+) days pass\)", line):
                site.clock.advance(int(pass_by[1]) * DAY)
                continue
            words = shlex.split(_there(line, served))
            assert words[0] == "sanderling", line
            ran = sanderling(*words[1:], env={"SANDERLING_AHEAD": str(EPOCH + site.clock.now - time.time())})
            assert ran.code == 0, f"{line}\n{ran.err}"


def _there(text: str, served: dict[str, str]) -> str:
    """With the addresses of the webs that are served here."""
    for name, url in served.items():
        text = text.replace(name, url)
    return text


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_python_examples(path: Path, site: ServedWeb, tmp_path: Path) -> None:
    for block in blocks(path, "python"):
        code = block.replace("http://localhost:8080/", site.url)
        ran = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
        )
        assert ran.returncode == 0, ran.stderr


def test_a_new_user_gets_a_price_by_mail(
    mailbox: tuple[Mailbox, str],  # noqa: F811
    sanderling: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first commands of the page on watching, as they are written but for the addresses."""
    box, address = mailbox
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAIL", address)
    with Shop() as shop:
        text = blocks(ROOT / "docs" / "watching.md", "sh")[0]
        text = text.replace("https://shop.example/p/7", shop.url).replace("--every 10m", "--every 1s")
        export, *commands, service = text.strip().splitlines()
        assert export.startswith("export MAIL=") and len(commands) == 2
        for line in commands:
            ran = sanderling(*shlex.split(line)[1:])
            assert ran.code == 0 and "79.00" in ran.out, f"{line}\n{ran.err}"
        words, visited = shlex.split(service), len(shop.asked)
        with started(*words[1:], "--port", 0, stdout=subprocess.PIPE) as served:
            home = next(word for word in served.stdout.readline().split() if word.startswith("http"))
            until(lambda: shop.asked[visited:].count("/p/7") >= 2)
            shop.price = "75.00"
            until(lambda: bool(box.mails))
            dashboard = urllib.request.urlopen(home).read().decode()
    assert "79.00 → 75.00" in box.mails[0].get_body(("plain",)).get_content()
    assert "79.00 → 75.00" in dashboard


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs" / "settings.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|(?=.*\|.*\|)", text, re.MULTILINE) == [each.name for each in DECLARED]
    for each in DECLARED:
        assert each.help in text
    for name, order in ORDERS.items():
        assert f"| `{name}` | {order.help} |" in text


def test_links_between_pages_lead_somewhere() -> None:
    for path in [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_files_named_in_the_architecture_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    home = Path(package.__file__).parent
    for name in re.findall(r"`((?:\w+/)*\w+\.py)`", text):
        found = any((base / name).exists() for base in (home, home.parent, home / "client", ROOT))
        assert found, name


def test_the_change_log_knows_the_version() -> None:
    assert f'version = "{package.__version__}"' in (ROOT / "pyproject.toml").read_text()
