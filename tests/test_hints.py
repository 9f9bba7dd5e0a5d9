"""Messages that lead a user on: what was probably meant, and what stands where."""

from pathlib import Path

import pytest

from sanderling.cli import main
from sanderling.cli.crawl import _hint_at_http
from sanderling.errors import BadSetting
from sanderling.settings import DECLARED, Rule, read_value
from sanderling.web.pages import settings_form
from sanderling.web.pages.crawl import _plain
from tests.conftest import Run
from tests.search_library import Library
from tests.telling.endpoint import Endpoint
from tests.web.served import running


def test_a_test_of_a_webhook_does_not_call_it_fine(library: Library, sanderling: Run) -> None:
    with Endpoint(500) as endpoint:
        with library.folder.settings.open("a") as file:
            file.write(f'[[webhook]]\nurl = "{endpoint.url}"\nallow_private = true\n')
        ran = sanderling("webhooks", library.folder.path, "--test")
        assert ran.code == 1
        assert "  failing: it answered 500\n  0 changes delivered\n" in ran.out
        assert sanderling("webhooks", library.folder.path, "--test", "--json").json["state"] == "failing"


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (
            "delay",
            "webhook number 2 has no key 'delay'; it is a setting of the crawl, so move it above the first [[webhook",
        ),
        ("secret_fil", "webhook number 2 has no key 'secret_fil'; did you mean secret_file?"),
        ("zzz", "webhook number 2 has no key 'zzz'"),
    ],
)
def test_a_key_that_a_webhook_does_not_have(key: str, told: str) -> None:
    with pytest.raises(BadSetting) as error:
        read_value("webhook", [{"url": "http://a.org/"}, {"url": "http://b.org/", key: "1"}])
    assert str(error.value).startswith(told)


def test_a_port_without_a_scheme_gets_a_hint_at_http(capsys: pytest.CaptureFixture[str]) -> None:
    _hint_at_http(["localhost:8000", "example.org", "example.org:443/", "http://localhost:80/"])
    assert capsys.readouterr().err == (
        "sanderling: trying https://localhost:8000/; if that server speaks plain HTTP, write http://localhost:8000/\n"
    )


def test_words_without_hits_get_a_hint_at_similar_ones(library: Library, capsys: pytest.CaptureFixture[str]) -> None:
    library.page("http://library.test/", "<p>A sanderling runs along the beach")
    assert main(["search", str(library.folder.path), "sanderlnig"]) == 0
    assert "did you mean something similar? 'sanderlnig~' finds 1 page\n" in capsys.readouterr().err
    assert main(["search", str(library.folder.path), "quartz"]) == 0
    assert "similar" not in capsys.readouterr().err


def test_a_server_says_that_its_folder_is_not_there_yet(tmp_path: Path) -> None:
    with running(tmp_path / "later") as server:
        assert server.process.stdout is not None
        assert "later does not exist yet; the first new crawl creates it" in server.process.stdout.readline()


def test_settings_are_shown_in_the_words_of_a_form() -> None:
    rules = (Rule(ignore=(".ad", "#clock")), Rule(urls="/products/", watch=("h1",)))
    assert _plain("rules", rules) == "ignore .ad, #clock; watch h1 on /products/"
    helped = {
        name: field.help for name, field in settings_form.fields({}, {}, [each.name for each in DECLARED]).items()
    }
    assert "max_depth" not in helped["sitemaps"] and "Max depth" in helped["sitemaps"]
    assert all("repeatable" not in text and not text.startswith("http") for text in helped.values())
