"""The page of forms: what was sent and found, why not, and that texts of a form stay text."""

from collections.abc import Iterator

import pytest

from sanderling.repository import form_rows as stored
from sanderling.repository.opening import reading
from tests.conftest import FAST, Run
from tests.hidden_web import SEARCH, HiddenWeb, texts
from tests.web.served import Served, running
from tests.web.test_pages import check, tree

EVIL = "<img src=x onerror=alert(1)>"
HOME = (
    SEARCH
    + "<form action=/enter method=post><input name=name><input type=password name=secret></form>"
    + f'<form action="/x?&quot;&gt;{EVIL}"><input type=file name="{EVIL}" placeholder="{EVIL}">'
    + f"<select name=many>{''.join(f'<option>{EVIL} {at}' for at in range(500))}</select></form>"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, sanderling: Run) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("forms")
    with HiddenWeb(texts(30), HOME) as web:
        options = ("--clients", "1", "--no-index", "--forms", "search", "--form-queries", "25")
        assert sanderling("crawl", web.url, "-d", home / "hidden", *FAST, *options).code == 0
        assert sanderling("crawl", web.url, "-d", home / "plain", *FAST, "--clients", "1", "--no-index").code == 0
    with reading(home / "hidden") as (_, store):  # the list goes on where its part ended
        part = stored.forms_after(store, 2)
        rest = stored.forms_after(store, 2, part[-1].form.id)
    assert len(part) == 2 and len({each.form.id for each in [*part, *rest]}) == 3
    with running(home) as served:
        yield served


def test_what_was_sent_and_found_and_why_not(server: Served) -> None:
    document = tree(server, "/crawls/hidden/forms")
    check(document, "forms")
    cards = [" ".join(card.text.split()) for card in document.find_all("section")]
    assert len(cards) == 3
    search = cards[0]  # what brought most is first
    assert "about" in search and "found" in search and "queries" in search and "GET http" in search, search
    (login,) = [card for card in cards if "/enter" in card]
    assert "not sent" in login and "login" in login and "password" in login, login
    assert "queries" not in login


def test_what_a_form_says_stays_text(server: Served) -> None:
    answer = server.http.get("/crawls/hidden/forms", headers={"accept": "text/html"}).text
    assert "&lt;img src=x" in answer and "<img src=x" not in answer
    assert "500 options" in answer and answer.count("&lt;img src=x") < 20
    assert len(answer) < 20_000


def test_a_crawl_that_sends_no_forms_says_how(server: Served) -> None:
    said = tree(server, "/crawls/plain/forms").text
    assert "--forms search" in said and "sanderling forms" in said
    assert 'href="/crawls/plain/forms"' in server.http.get("/crawls/plain", headers={"accept": "text/html"}).text


def test_a_long_list_goes_on(server: Served) -> None:
    first = server.http.get("/crawls/hidden/forms?after=9223372036854775807", headers={"accept": "text/html"})
    assert first.status_code == 200 and "Back to the start" in first.text
    for wrong in ("x", "9" * 40):
        assert server.http.get(f"/crawls/hidden/forms?after={wrong}", headers={"accept": "text/html"}).status_code < 500
