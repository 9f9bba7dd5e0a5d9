"""Sites that are away or show a login, and certificates that end: told once each, and when over."""

import datetime
import ssl
from pathlib import Path

import pytest
import trustme
from turbohtml import parse

from sanderling.change.collapse import collapse
from tests.conftest import FAST, Run
from tests.servers import Answer, PageServer, Table

TEXT = "".join(f"<p>Paragraph {n} tells something about kettles and lamps.</p>" for n in range(40))
LOGIN = b"<h1>Welcome</h1><form><input name=user><input type=password name=secret></form>"
PAGES: Table = {
    "/robots.txt": b"",
    "/": Answer(f"<title>Home</title><a href=/a>a</a>{TEXT}".encode()),
    "/a": Answer(f"<title>A</title>{TEXT}".encode()),
}


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (TEXT, LOGIN.decode(), "log in"),
        (TEXT + LOGIN.decode(), LOGIN.decode(), "letters are left"),
        (TEXT, "<p>Service unavailable", "letters are left"),
        (TEXT, TEXT[:600], ""),  # a fifth is left
        ("<p>Sold out", "<p>", ""),
        (TEXT, TEXT + LOGIN.decode(), ""),
    ],
)
def test_what_is_no_content(old: str, new: str, why: str) -> None:
    found = collapse(parse(old), parse(new))
    assert why in found if why else not found


def test_each_trouble_is_told_once_and_once_when_it_is_over(sanderling: Run, tmp_path: Path) -> None:
    folder, authority = tmp_path / "crawl", trustme.CA()
    soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=10)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1", not_after=soon).configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with PageServer(PAGES, context) as site:

        def visit(hours: float, *flags: str) -> None:
            env = {"SSL_CERT_FILE": str(tmp_path / "ca.pem"), "SANDERLING_AHEAD": str(hours * 3600)}
            ran = sanderling("crawl", site.origin, "-d", folder, "--retry-wait", "10ms", *FAST, *flags, env=env)
            assert ran.code == 0, ran.err

        visit(0)
        site.table.update(dict.fromkeys(("/", "/a"), Answer(b"<p>Back soon", status=503)))
        visit(1, "--again")
        site.table.update(dict.fromkeys(("/", "/a"), LOGIN))
        visit(2, "--again")
        site.table.update(PAGES)
        visit(3, "--again")
    told = [(row["url"], row["kinds"], row["summary"]) for row in sanderling("changes", folder, "--json").lines][::-1]
    home = site.origin + "/"
    assert sorted(told[:2]) == [
        (home, ["certificate"], f"the certificate of {site.origin} ends in 9 days"),
        (home, ["down"], f"{site.origin} is down: it is a page to log in on now"),
    ]
    assert told[2:] == [(home, ["up"], f"{site.origin} is up again after 2 h")]
