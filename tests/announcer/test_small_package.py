"""The announcer as a package of its own: Python alone, on any platform."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import sanderling_announce
from sanderling.urls import canonical, join
from sanderling_announce import signing, tools
from sanderling_announce.pages import PageMap
from sanderling_announce.paths import MACOS, POSIX, WINDOWS, PathRules
from tests.announcer.sites import SITE, ReportReader
from tests.waiting import PATIENCE

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("rules", "root", "path", "inside"),
    [
        (POSIX, b"/srv/www", b"/srv/www/a/b.html", b"a/b.html"),
        (POSIX, b"/srv/www/", b"/srv/www", b""),
        (POSIX, b"/srv/www", b"/srv/www2/a.html", None),
        (POSIX, b"/srv/www", b"/srv/WWW/a.html", None),
        (POSIX, b"/srv/www", b"/srv/www/a\\b.html", b"a\\b.html"),
        (MACOS, b"/Users/me/Sites", b"/users/me/sites/A.html", b"A.html"),
        (WINDOWS, rb"C:\inetpub\wwwroot", rb"c:\inetpub\wwwroot\Blog\a.html", b"Blog/a.html"),
        (WINDOWS, rb"C:\inetpub\wwwroot", rb"\\?\C:\inetpub\wwwroot\a.html", b"a.html"),
        (WINDOWS, rb"C:\inetpub\wwwroot", rb"D:\inetpub\wwwroot\a.html", None),
        (WINDOWS, b"C:\\", rb"C:\a.html", b"a.html"),
        (WINDOWS, rb"\\server\share\www", rb"\\server\share\www\a\b.html", b"a/b.html"),
    ],
)
def test_where_a_file_is_in_the_folder(rules: PathRules, root: bytes, path: bytes, inside: bytes | None) -> None:
    assert rules.inside(root, path) == inside


@pytest.mark.parametrize(
    ("rules", "path", "url"),
    [
        (POSIX, b"Index.HTML", f"{SITE}Index.HTML"),
        (WINDOWS, b"Blog/Index.HTML", f"{SITE}Blog/"),
        (MACOS, b"caf\x65\xcc\x81.html", f"{SITE}caf%C3%A9.html"),
        (POSIX, b"caf\x65\xcc\x81.html", f"{SITE}cafe%CC%81.html"),
    ],
)
def test_names_become_urls_as_links_write_them(rules: PathRules, path: bytes, url: str) -> None:
    assert PageMap(SITE, names=rules).url(path) == url


@pytest.mark.parametrize(
    "text",
    [
        "https://Example.ORG", "http://example.org:80/a/../b", "https://example.org:8443/a b?q=ä#top", "/srv/www", "",
        "https://bücher.example/ä", "ftp://example.org/", "https://[::1]/x", "https://example.org/%7ea?%41=1",
    ],
)  # fmt: skip
def test_urls_are_written_like_those_of_the_crawler(text: str) -> None:
    """Up to escapes that need not be: the crawler removes these itself."""
    plain = tools.canonical(text)
    assert (plain and canonical(plain)) == canonical(text)
    assert canonical(tools.join(SITE, text) or "") == join(SITE, text)


def test_signatures_are_those_of_the_library() -> None:
    for number in range(3):
        secret, message = bytes([number]) * 32, b"message" * number
        private = Ed25519PrivateKey.from_private_bytes(secret)
        assert signing.public_key(secret) == private.public_key().public_bytes_raw()
        assert signing.sign(secret, message) == private.sign(message)


def test_the_wheel_announces_by_itself(tmp_path: Path) -> None:
    """No other package is there, not even those of Python's site-packages."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path], cwd=ROOT / "announce", check=True,
        capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("sanderling_announce-*-py3-none-any.whl")
    assert f"-{sanderling_announce.__version__}-" in wheel.name
    with zipfile.ZipFile(wheel) as files:
        assert not [name for name in files.namelist() if not name.startswith("sanderling_announce")]
    site = tmp_path / "www"
    site.mkdir()
    again = ["-S", "-m", "sanderling_announce", site, "--site", SITE, "--state", tmp_path / "state", "--once"]

    def announced() -> str:
        ran = subprocess.run(
            [sys.executable, *again], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(wheel)}, timeout=PATIENCE,
            capture_output=True, text=True,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        return ran.stderr

    (site / "index.html").write_text('<a href="a.html">a')
    (site / "a.html").write_text("<p>a")
    assert "2 pages found" in announced()
    reader = ReportReader(site / ".well-known" / "sanderling")
    assert reader.news() == [] and set(reader.listed()) == {SITE, f"{SITE}a.html"}
    (site / "a.html").write_text('<p id="x" onclick="more()">b')
    assert "1 changed; cursor 1" in announced()
    (change,) = reader.news()
    assert change.url == f"{SITE}a.html" and change.level == 0.5 and change.hints[0].function == "more()"
