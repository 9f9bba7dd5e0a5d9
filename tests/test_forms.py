"""Forms: what a crawl lists, sends and never sends, with real servers and stores."""

import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from sanderling.clock import DAY
from sanderling.forms.probing import NONSENSE
from tests.conftest import FAST, Run, started
from tests.hidden_web import HiddenWeb, listing, texts
from tests.servers import Answer, PageServer
from tests.waiting import until

SEARCH = b"<form action=/find role=search><label>Words <input name=q></label><input type=submit value=Search></form>"
LOGIN = b"<form method=post action=/login><input name=user><input type=password name=pass></form>"


def test_forms_of_a_crawl_that_sends_none_are_listed_from_the_archive(tmp_path: Path, sanderling: Run) -> None:
    pages = {"/": b"<title>Home</title>" + SEARCH + b'<a href="/b">b</a>', "/b": b"<title>B</title>" + SEARCH + LOGIN}
    with PageServer(pages) as server:
        sanderling("crawl", server.origin + "/", "-d", tmp_path / "c", *FAST)
        asked = {urlpath(each.url) for each in server.asked}
    listed = sanderling("forms", tmp_path / "c", "--json").lines
    assert [(form["kind"], form["method"], form["pages"], form["state"]) for form in listed] == [
        ("search", "GET", 2, "not sent"),
        ("login", "POST", 1, "not sent"),
    ]
    assert listed[0]["fields"][0] == {"name": "q", "type": "text", "label": "Words"}
    assert listed[1]["reason"] == "login forms are never sent"
    assert not asked & {"/find", "/login"}
    text = sanderling("forms", tmp_path / "c", "--kind", "search").out
    assert "this crawl does not send search forms" in text and "login" not in text


def test_a_form_whose_answers_are_out_of_scope_says_so(tmp_path: Path, sanderling: Run) -> None:
    elsewhere = Answer(status=302, headers=(("location", "/find?sorted=1"),))
    asked = {f"/find?q={word}": elsewhere for word in ("", NONSENSE, "words")}
    with PageServer({"/": SEARCH, **asked}) as server:
        sanderling(
            "crawl", server.origin + "/", "-d", tmp_path / "c", *FAST, "--forms", "search", "--exclude", "sorted"
        )
    (form,) = sanderling("forms", tmp_path / "c", "--json").lines
    assert form["state"] == "closed" and form["reason"].startswith("its answers are redirected out of scope")


def urlpath(url: str) -> str:
    return "/" + url.partition("://")[2].partition("/")[2].partition("?")[0]


def found_in(records: Iterable[str]) -> set[int]:
    """The records among URLs."""
    return {int(url.rpartition("/")[2]) for url in records if "/r/" in url}


def test_records_behind_a_search_form_are_found_and_the_rest_is_estimated(tmp_path: Path, sanderling: Run) -> None:
    folder = tmp_path / "c"
    with HiddenWeb(texts(120)) as web:
        sanderling("crawl", web.url, "-d", folder, *FAST, "--no-index", "--forms", "search")
        queries = [sent["q"] for sent in web.sent("/find")]
    pages = sanderling("pages", folder, "--json").lines
    assert len(found_in(page["url"] for page in pages)) >= 0.9 * 120
    assert not any("/find" in page["url"] for page in pages)  # answers are no pages
    (form,) = sanderling("forms", folder, "--json").lines
    assert form["state"] in ("closed", "complete") and form["reason"]
    assert form["least"] <= form["estimate"] <= form["most"] and abs(form["estimate"] - 120) < 30
    assert form["requests"] == len(web.sent("/find")) and form["found"] >= 108
    assert form["submissions"] == len(dict.fromkeys(queries)) <= 100
    assert not any("sort" in sent for sent in web.sent("/find"))
    shown = sanderling("forms", folder).out
    assert re.search(r"records    about \d+ \(\d+ to \d+\), \d+ found", shown), shown


def test_no_form_is_sent_unless_the_crawl_is_told_to(tmp_path: Path, sanderling: Run) -> None:
    with HiddenWeb(texts(5)) as web:
        sanderling("crawl", web.url, "-d", tmp_path / "a", *FAST, "--no-index")
        sanderling("crawl", web.url, "-d", tmp_path / "b", *FAST, "--no-index", "--forms", "none")
        assert not web.sent("/find")


HARMFUL = """
<form action=/login method=post><input name=user><input type=password name=p></form>
<form action=/login2><input name=user><input type=password name=p></form>
<form action=/upload><input name=q><input type=file name=f></form>
<form action=/pay><input name=card></form> <form action=/a1><input type=email name=x></form>
<form action=/a2><input name=q><button>Subscribe</button></form> <form action=/a3><input name=q><button>Delete</button></form>
<form action=/a4><input name=q><button>Order now</button></form> <form action=/contact><input name=q></form>
<form action=/a5><input name=q><input name=captcha></form> <form action=/a6 method=post><input name=q></form>
<form action=http://elsewhere.example/><input name=q></form> <form action=javascript:x()><input name=q></form>
"""


def test_forms_that_may_do_harm_are_never_sent(tmp_path: Path, sanderling: Run) -> None:
    with HiddenWeb([], home=HARMFUL) as web:
        sanderling("crawl", web.url, "-d", tmp_path / "c", *FAST, "--no-index", "--forms", "all-get")
        assert {path for _, path, _ in web.asked} <= {"/", "/about", "/robots.txt", "/sitemap.xml"}
        assert all(method == "GET" for method, _, _ in web.asked)
    listed = sanderling("forms", tmp_path / "c", "--json").lines
    assert len(listed) == 13 and all(form["state"] == "not sent" and form["reason"] for form in listed)


def test_robots_rules_hold_for_the_action(tmp_path: Path, sanderling: Run) -> None:
    def page(path: str, sent: dict[str, str]) -> Answer | None:
        return Answer(b"User-agent: *\nDisallow: /find", type="text/plain") if path == "/robots.txt" else None

    with HiddenWeb(texts(5), page=page) as web:
        sanderling("crawl", web.url, "-d", tmp_path / "c", *FAST, "--no-index", "--forms", "search")
        assert not web.sent("/find")
    (form,) = sanderling("forms", tmp_path / "c", "--json").lines
    assert form["reason"] == "robots.txt disallows its action"


def test_too_many_requests_end_a_form_for_the_day(tmp_path: Path, sanderling: Run) -> None:
    def page(path: str, sent: dict[str, str]) -> Answer | None:
        return Answer(b"slow down", status=429) if path == "/find" and len(web.sent("/find")) >= 4 else None

    with HiddenWeb(texts(40), page=page) as web:
        command = ("crawl", web.url, "-d", tmp_path / "c", *FAST, "--no-index", "--forms", "search")
        sanderling(*command)
        assert len(web.sent("/find")) == 4
        sanderling(*command)
        assert len(web.sent("/find")) == 4
    (form,) = sanderling("forms", tmp_path / "c", "--json").lines
    assert (form["state"], form["reason"]) == ("paused", "it answered 429")


def test_the_budgets_of_a_day_and_of_pages_are_kept(tmp_path: Path, sanderling: Run, kept_in: list[object]) -> None:
    limits = ("--form-queries", "6", "--form-pages", "2", *kept_in)
    with HiddenWeb(texts(200)) as web:
        command = ("crawl", web.url, "-d", tmp_path / "c", *FAST, "--no-index", "--forms", "search", *limits)
        sanderling(*command)
        first = web.sent("/find")
        assert len({sent.get("q") for sent in first}) == 6 and {sent.get("p", "1") for sent in first} <= {"1", "2"}
        sanderling(*command)
        assert web.sent("/find") == first
        sanderling(*command, env={"SANDERLING_AHEAD": str(DAY)})
        second = web.sent("/find")[len(first) :]
        assert len({sent.get("q") for sent in second}) == 6
        assert not {sent["q"] for sent in second} & {sent.get("q") for sent in first}


def test_a_killed_crawl_goes_on_without_repeating_a_query(tmp_path: Path, sanderling: Run) -> None:
    with HiddenWeb(texts(60)) as web:
        command = ("crawl", web.url, "-d", tmp_path / "c", *FAST, "--no-index", "--forms", "search")
        for stop in (6, 12):
            with started(*command, stderr=subprocess.DEVNULL) as process:
                until(lambda stop=stop: len(web.sent("/find")) >= stop or process.poll() is not None)
                os.killpg(process.pid, signal.SIGKILL)
        sanderling(*command)
        asked = Counter((sent.get("q", ""), sent.get("p", "")) for sent in web.sent("/find"))
        # What was under way at a kill is asked for once more, like a page. A query is at most one
        # request at a time.
        assert sum(count - 1 for count in asked.values()) <= 2
    assert len(found_in(page["url"] for page in sanderling("pages", tmp_path / "c", "--json").lines)) >= 54


SELECTS = """<form action=/filter><select name=a><option value="">any{}</select><select name=b><option value="">any{}</select>
<select name=useless><option value="">any{}</select><input type=submit value=Show></form>"""


def test_selects_are_tried_by_informative_templates(tmp_path: Path, sanderling: Run) -> None:
    def options(count: int) -> str:
        return "".join(f"<option value={n}>{n}</option>" for n in range(count))

    def page(path: str, sent: dict[str, str]) -> str | None:
        if path != "/filter":
            return None
        chosen = [(int(sent[name]), base) for name, base in (("a", 12), ("b", 8)) if sent.get(name)]
        hits = [n for n in range(300) if all((n if base == 12 else n // 12) % base == value for value, base in chosen)]
        return listing(hits[:10] if chosen else [], "/filter?", 1)

    home = SELECTS.format(options(12), options(8), options(30))
    with HiddenWeb(texts(300, length=5), home=home, page=page) as web:
        command = ("crawl", web.url, "-d", tmp_path / "c", *FAST, "--no-index", "--form-queries", "200")
        sanderling(*command, "--forms", "search")
        assert not web.sent("/filter")
        sanderling(*command, "--forms", "filters")
        sent = web.sent("/filter")
        assert len(sent) <= 160  # of 12 x 8 x 30 combinations
        useless = [each for each in sent if each["useless"]]
        assert len(useless) <= 12 and not any(each["a"] and each["useless"] for each in sent)
        assert any(each["a"] and each["b"] for each in sent)
    (form,) = sanderling("forms", tmp_path / "c", "--json").lines
    assert form["kind"] == "filter" and form["found"] >= 200


def test_a_post_form_is_sent_only_if_it_is_named(tmp_path: Path, sanderling: Run) -> None:
    home = "<form action=/ask method=post><input name=q><input type=hidden name=csrf value=1></form>"

    def page(path: str, sent: dict[str, str]) -> str | None:
        if path != "/ask":
            return None
        return listing([n for n, text in enumerate(web.records) if sent.get("q") in text.split()][:10], "/ask?", 1)

    with HiddenWeb(texts(40), home=home, page=page) as web:
        command = ("crawl", web.url, "-d", tmp_path / "c", *FAST, "--no-index", "--forms", "search")
        sanderling(*command)
        assert not web.sent("/ask")
        wrong = sanderling(*command, "--form-post", "ask")
        assert wrong.code == 2 and "form_post = ['ask'] is not the URL of a form's action" in wrong.err
        named = web.url.replace("http", "HTTP") + "./ask#top"  # any way to write the URL will do
        sanderling(*command, "--form-post", named, "--form-queries", "30")
        sent = web.sent("/ask")
        assert 5 < len(sent) <= 30 and all(method == "POST" for method, path, _ in web.asked if path == "/ask")
        assert all(set(each) == {"q"} for each in sent)  # the token is not replayed
    assert found_in(page["url"] for page in sanderling("pages", tmp_path / "c", "--json").lines)


def test_values_of_the_user_come_first(tmp_path: Path, sanderling: Run) -> None:
    folder = tmp_path / "c"
    with HiddenWeb(texts(10)) as web:
        folder.mkdir()
        (folder / "sanderling.toml").write_text(
            f'seeds = ["{web.url}"]\n[forms]\nsend = "search"\nqueries = 4\n[forms.values]\nwords = ["turnstone", "dunlin"]\n'
        )
        sanderling("crawl", "-d", folder, *FAST, "--no-index")
        assert [sent["q"] for sent in web.sent("/find")][2:4] == ["turnstone", "dunlin"]


def test_a_query_that_brought_records_is_repeated_and_finds_new_ones(tmp_path: Path, sanderling: Run) -> None:
    records = texts(30)
    with HiddenWeb(records) as web:
        command = ("crawl", web.url, "-d", tmp_path / "c", *FAST, "--no-index", "--forms", "search")
        sanderling(*command)
        asked = len(web.sent("/find"))
        brought = Counter(sent.get("q") for sent in web.sent("/find"))
        (before,) = sanderling("forms", tmp_path / "c", "--json").lines
        web.records = [*records, records[0]]  # a record with words that were asked for
        sanderling(*command, "--again")
        repeated = {sent.get("q") for sent in web.sent("/find")[asked:]}
    assert repeated & brought.keys()
    for _ in range(2):  # what was found is kept
        (form,) = sanderling("forms", tmp_path / "c", "--json").lines
        assert form["found"] == before["found"] + 1 and form["submissions"] == before["submissions"]
        sanderling(*command)
    assert 30 in found_in(page["url"] for page in sanderling("pages", tmp_path / "c", "--json").lines)


def test_forms_of_one_action_share_the_nonsense_query(tmp_path: Path, sanderling: Run) -> None:
    more = SEARCH.decode().replace("<input type=submit", "<input name=by><input type=submit")

    def page(path: str, sent: dict[str, str]) -> str | None:
        return f"<p>About.</p>{more}" if path == "/about" else None

    with HiddenWeb(texts(40), page=page) as web:
        sanderling("crawl", web.url, "-d", tmp_path / "c", *FAST, "--no-index", "--forms", "search", "--clients", "1")
        assert [sent.get("q") for sent in web.sent("/find")].count(NONSENSE) == 1
    forms = sanderling("forms", tmp_path / "c", "--json").lines
    assert len(forms) == 2 and all(form["submissions"] for form in forms)


def test_a_closed_form_is_tried_again_after_a_week(tmp_path: Path, sanderling: Run) -> None:
    asked = []
    with HiddenWeb(texts(30)) as web:
        for days in (0, 1, 8, 9, 23):
            sanderling(
                "crawl", web.url, "-d", tmp_path / "c", *FAST, "--no-index", "--forms", "search",
                env={"SANDERLING_AHEAD": str(days * DAY)},
            )  # fmt: skip
            (form,) = sanderling("forms", tmp_path / "c", "--json").lines
            asked.append(form["submissions"])
            assert form["state"] == "closed" and form["until"] > 0
    assert asked[0] == asked[1] < asked[2] == asked[3] < asked[4] <= asked[0] + 8
    assert "tried again after" in sanderling("forms", tmp_path / "c").out


def test_answers_that_echo_or_repeat_themselves_end_a_form(tmp_path: Path, sanderling: Run) -> None:
    home = "".join(
        f"<form action=/{name}><input name=q><p style='display:none'><input name=website></p></form>"
        for name in ("echo", "one")
    )

    def page(path: str, sent: dict[str, str]) -> str | None:
        word = sent.get("q", "")
        if path == "/echo":
            return f"<p>You searched for <script>{word}</script> {word} <b>{word}</b> " * 3
        return "<p>1 result</p><a href=/r/0>the one</a>" if path == "/one" else None

    with HiddenWeb(texts(1), home=home, page=page) as web:
        sanderling("crawl", web.url, "-d", tmp_path / "c", *FAST, "--no-index", "--forms", "search")
        assert len(web.sent("/echo")) <= 14 and len(web.sent("/one")) <= 14
        assert not any(sent["website"] for sent in web.sent("/echo"))
    forms = sanderling("forms", tmp_path / "c", "--json").lines
    assert [form["state"] for form in forms] == ["closed", "closed"] and all(form["reason"] for form in forms)


def test_records_that_differ_in_a_number_only_are_all_read(tmp_path: Path, sanderling: Run) -> None:
    """Elsewhere such pages are held back as repetitions. Records that are equal still are."""
    boat = "offer {} of a small boat in the harbour of the town costs {} euros a day and is there since {}"
    records = [boat.format(number, number * 7 % 90 + 10, 1900 + number) for number in range(40)] + [
        "the same town"
    ] * 40
    with HiddenWeb(records) as web:
        sanderling("crawl", web.url, "-d", tmp_path / "c", *FAST, "--no-index", "--forms", "search", "--clients", "1")
        read = {int(path[3:]) for _, path, _ in web.asked if path.startswith("/r/")}
    assert read >= {*range(40)}


def test_an_endless_calendar_ends(tmp_path: Path, sanderling: Run) -> None:
    """As a filter of 2,400 months, each with 28 days that say nothing, and a pager that never
    ends.
    """
    years, months = "".join(f"<option>{n}" for n in range(1900, 2100)), "".join(f"<option>{n}" for n in range(1, 13))
    fields = f"<select name=year>{years}</select><select name=month>{months}</select>"

    def page(path: str, sent: dict[str, str]) -> str | None:
        if path == "/day":
            return f"<p>No events on {sent['date']}.</p>"
        if path != "/calendar":
            return None
        year, month = int(sent.get("year") or 2000), int(sent.get("month") or 1)
        days = "".join(f"<a href=/day?date={year}-{month}-{day}>{day}</a> " for day in range(1, 29))
        turn = f"year={year + month // 12}&month={month % 12 + 1}"
        return f"<h1>{year}-{month}</h1>{days}<a rel=next href='/calendar?{turn}'>Next</a>"

    limits = ("--forms", "filters", "--form-queries", "30", "--form-pages", "3", "--clients", "1")
    with HiddenWeb([], home=f"<form action=/calendar>{fields}</form>", page=page) as web:
        sanderling("crawl", web.url, "-d", tmp_path / "c", *FAST, "--no-index", "--render", "never", *limits)
        assert len(web.sent("/calendar")) <= 30 * 3 + 10
        assert len(web.sent("/day")) <= 600  # of 67,200
    (form,) = sanderling("forms", tmp_path / "c", "--json").lines
    assert form["submissions"] <= 30 and form["state"] in ("paused", "closed", "complete") and form["reason"]


def test_a_select_of_ten_thousand_values_costs_no_more_than_the_budget(tmp_path: Path, sanderling: Run) -> None:
    many = "".join(f"<option value={n}>{n}" for n in range(10_000))
    home = f"<form action=/pick><select name=n>{many}</select><select name=n><option>1<option>2</select></form>"

    def page(path: str, sent: dict[str, str]) -> str | None:
        return f"<p>{sent}</p><a href=/r/{sent['n']}>record</a>" if path == "/pick" and sent.get("n") else None

    with HiddenWeb(texts(50), home=home, page=page) as web:
        limits = ("--forms", "filters", "--form-queries", "15")
        sanderling("crawl", web.url, "-d", tmp_path / "c", *FAST, "--no-index", "--render", "never", *limits)
        assert 0 < len(web.sent("/pick")) <= 15
    (form,) = sanderling("forms", tmp_path / "c", "--json").lines
    assert form["fields"][0]["offered"] == 10_000 and form["submissions"] <= 15


def test_a_refresh_repeats_queries_within_its_budget(tmp_path: Path, sanderling: Run) -> None:
    records, folder = texts(30), tmp_path / "c"
    with HiddenWeb(records) as web:
        sanderling("crawl", web.url, "-d", folder, *FAST, "--no-index", "--forms", "search", "--render", "never")
        later = {"SANDERLING_AHEAD": str(40 * DAY)}
        web.records = [*records, records[0]]  # a record with words that were asked for
        asked = len(web.asked)
        sanderling("refresh", folder, "--budget", 12, "--json", env=later)
        assert [path for _, path, _ in web.asked[asked:]].count("/find") > 0
        assert len([path for _, path, _ in web.asked[asked:] if path != "/robots.txt"]) <= 12 + 8
        sanderling("refresh", folder, "--budget", 200, "--json", env={"SANDERLING_AHEAD": str(80 * DAY)})
    assert 30 in found_in(page["url"] for page in sanderling("pages", folder, "--json").lines)
