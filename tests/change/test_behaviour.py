"""Changes of scripts are a kind of their own. They are news only for those who ask for them."""

from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
import turbohtml

from sanderling.change import AspectKind, Noise, PageFingerprint, Verdict, compare, explain, fingerprint, learn
from sanderling.change.judging import known_fingerprint
from sanderling.model import ChangeKind
from sanderling.repository import views
from sanderling.repository.opening import reading
from tests.conftest import FAST, Run
from tests.servers import PageServer

TEXT = "<h1>Waders</h1><p>The tide is out, and the birds are back.</p>"


def page(script: str, text: str = TEXT) -> PageFingerprint:
    return fingerprint(turbohtml.parse(f"<html><head>{script}</head><body>{text}</body></html>"))


def change(old: str, new: str) -> Verdict:
    return compare(page(old), page(new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<script>track(1)</script>", "<script>track(2)</script>"),
        ("<script>pay(mine)</script>", "<script>pay(yours)</script>"),
        ('<script src="/shop.js"></script>', '<script src="https://evil.test/shop.js"></script>'),
        ('<script type="module">a()</script>', '<script type="module">b()</script>'),
    ],
)
def test_another_script_is_another_behaviour(old: str, new: str) -> None:
    found = change(old, new)
    assert found.kinds == (AspectKind.BEHAVIOUR,) and not found.news
    assert found.summary == "the page's scripts changed"


def test_another_event_attribute_is_another_behaviour() -> None:
    old, new = (page("", f'<button onclick="{code}">Buy</button>') for code in ("buy()", "steal()"))
    assert compare(old, new).kinds == (AspectKind.BEHAVIOUR,)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<script nonce="a1">f()</script>', '<script nonce="b2">f()</script>'),
        ("<script>csrf = '8f14e45fceea167a'</script>", "<script>csrf = 'c9f0f895fb98ab91'</script>"),
        ("<script>t = 1763350000</script>", "<script>t = 1763359999</script>"),
        ('<script src="/app.3f2a9c1b.js?v=1"></script>', '<script src="/app.9d8e7f60.js?v=2"></script>'),
        (
            '<script type="application/ld+json">{"price": "1"}</script>',
            '<script type="application/ld+json">{}</script>',
        ),
        ('<script type="text/x-template">a</script>', '<script type="text/x-template">b</script>'),
    ],
)
def test_tokens_and_data_are_no_behaviour(old: str, new: str) -> None:
    assert not change(old, new).changed


def test_a_script_that_differs_on_every_visit_is_noise() -> None:
    noise, versions = Noise(), [page(f"<script>ad('{word}')</script>") for word in ("one", "two", "six", "ten", "red")]
    kinds = []
    for old, new in pairwise(versions):
        kinds.append(compare(old, new, known=noise).kinds)
        noise = learn(noise, old, new)
    assert kinds == [(AspectKind.BEHAVIOUR,)] * 3 + [()]


def test_a_counter_stays_noise_when_scripts_change_with_it() -> None:
    def version(n: int) -> PageFingerprint:
        return page(f"<script>f({n})</script>", f"{TEXT}<p>Visitors today</p><p>{n} so far</p>")

    noise = Noise()
    for n in range(3):
        noise = learn(noise, version(n), version(n + 1))
    assert not compare(version(3), version(4), known=noise).news


def test_a_fingerprint_of_an_earlier_release_says_nothing_about_scripts() -> None:
    new = page("<script>b()</script>")
    fields = msgspec.to_builtins(page("<script>a()</script>"), builtin_types=(bytes,))[:-1]
    old = known_fingerprint(msgspec.msgpack.encode(fields))
    assert old is not None and not old.behaviour
    assert not compare(old, new).changed


def test_a_difference_names_the_script_files() -> None:
    old, new = (turbohtml.parse(f'<script src="/js/{name}.js"></script>{TEXT}') for name in ("shop", "store"))
    assert explain(old, new).summary == "the page's scripts changed (shop.js -> store.js)"


def test_only_those_who_ask_are_told(sanderling: Run, tmp_path: Path) -> None:
    with PageServer({"/": f"{TEXT}<script>a()</script>".encode()}) as server:
        folder = tmp_path / "c"
        assert sanderling("crawl", server.origin, "-d", folder, *FAST).code == 0
        server.table["/"] = f"{TEXT}<script>b()</script>".encode()
        assert sanderling("crawl", "-d", folder, *FAST, "--again").code == 0
        assert sanderling("changes", folder, "--json").lines == []
        assert sanderling("changes", folder, "--json", "--kind", "text").lines == []
        [told] = sanderling("changes", folder, "--json", "--kind", "behaviour").lines
        assert told["kinds"] == ["behaviour"] and not told["news"]
        with reading(folder) as (_, store):
            assert not views.changes(store, 9, newer_than=1).rows
            assert len(views.changes(store, 9, kinds=ChangeKind.BEHAVIOUR).rows) == 1
