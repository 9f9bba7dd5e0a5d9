"""Webhooks of real crawls: everything arrives in order, whatever happens to the endpoint and the
crawl."""

import base64
import hashlib
import hmac
import signal
import subprocess
import time
from pathlib import Path

from sanderling.testing import DAY, ServedWeb, SyntheticWeb
from tests.conftest import FAST, Run, command, started
from tests.servers import closed
from tests.telling.endpoint import Endpoint
from tests.waiting import PATIENCE, until


def webhook(folder: Path, endpoint: Endpoint | str, more: str = "") -> None:
    """Adds a webhook to a crawl."""
    url = endpoint if isinstance(endpoint, str) else endpoint.url
    with (folder / "sanderling.toml").open("a") as file:
        file.write(f'[[webhook]]\nurl = "{url}"\nallow_private = true\nbaseline = true\n{more}\n')


def empty_crawl(run: Run, site: ServedWeb, folder: Path, *more: object) -> None:
    """A crawl that has not visited anything yet."""
    run("crawl", site.url, "-d", folder, "--max-pages", 0, *FAST, *more)
    settings = folder / "sanderling.toml"
    settings.write_text(settings.read_text().replace("max_pages = 0\n", ""))


def told(run: Run, folder: Path, *filters: str) -> list[str]:
    return [row["id"] for row in run("changes", folder, "--json", "--baseline", *filters).lines[::-1]]


def test_every_change_is_delivered_once_in_order_and_signed(
    sanderling: Run, tmp_path: Path, kept_in: list[object]
) -> None:
    folder = tmp_path / "crawl"
    with Endpoint() as endpoint, Endpoint() as other, SyntheticWeb(pages=150, seed=8, change_rate=0.4).serve() as site:
        empty_crawl(sanderling, site, folder, *kept_in)
        webhook(folder, endpoint, 'secret = "s"')
        webhook(folder, other, 'kinds = ["text", "gone"]\nmin_significance = 0.1')
        sanderling("crawl", "-d", folder)
        sanderling("webhooks", folder, "--deliver")  # a slow machine may have left something
        site.clock.advance(3 * DAY)
        sanderling("crawl", "-d", folder, "--again")
        sanderling("webhooks", folder, "--deliver")
        assert endpoint.taken == told(sanderling, folder)
        assert other.taken == told(sanderling, folder, "--kind", "text", "--kind", "gone", "--min-significance", "0.1")
        assert other.taken
        rows = sanderling("changes", folder, "--json", "--baseline").lines
        assert [change for post in endpoint.posted for change in post.changes][-1].keys() == rows[0].keys()
        for post in endpoint.posted:
            signed = f"{post.headers['webhook-id']}.{post.headers['webhook-timestamp']}.".encode() + post.body
            mac = base64.b64encode(hmac.digest(b"s", signed, hashlib.sha256)).decode()
            assert post.headers["webhook-signature"] == f"v1,{mac}"
            assert len(post.changes) <= 100
        # On a busy machine, a crawl may end its messenger after a delivery that is not yet
        # recorded, but only once.
        assert len(endpoint.posted) - len({post.headers["webhook-id"] for post in endpoint.posted}) <= 2
        shown = sanderling("webhooks", folder, "--json").lines
        assert [(row["state"], row["behind"], row["failures"]) for row in shown] == [("fine", 0, 0)] * 2
        assert shown[0]["changes"] == len(rows)


def test_a_webhook_is_told_only_what_comes_after_it(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with Endpoint() as endpoint, SyntheticWeb(pages=30, seed=8, change_rate=0.4).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST)
        before = told(sanderling, folder)
        webhook(folder, endpoint)
        site.clock.advance(3 * DAY)
        sanderling("refresh", folder, "--policy", "uniform", "--budget", 30)
        sanderling("webhooks", folder, "--deliver")
        assert endpoint.taken == told(sanderling, folder)[len(before) :]
        assert endpoint.taken


def test_an_endpoint_that_fails_gets_the_same_again(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with Endpoint(503) as endpoint, SyntheticWeb(pages=40, seed=8).serve() as site:
        empty_crawl(sanderling, site, folder)
        webhook(folder, endpoint)
        ran = sanderling("crawl", "-d", folder, "--json")
        assert (ran.code, ran.json["pages"]) == (0, 40)
        sanderling("webhooks", folder, "--deliver")  # in case the crawl was over too soon
        (shown,) = sanderling("webhooks", folder, "--json").lines
        assert (shown["state"], shown["complaint"]) == ("failing", "it answered 503")
        failed = sanderling("webhooks", folder, "--deliver")
        assert failed.code == 1
        assert "failures in a row: it answered 503" in failed.out
        assert endpoint.taken == []
        endpoint.statuses = [200]
        sanderling("webhooks", folder, "--deliver")
        assert endpoint.taken == told(sanderling, folder)
        ids = [post.headers["webhook-id"] for post in endpoint.posted]
        assert len(ids) > len(set(ids))
        by_id = {post.headers["webhook-id"]: post.body for post in endpoint.posted}
        assert all(post.body == by_id[post.headers["webhook-id"]] for post in endpoint.posted)


def test_a_dead_endpoint_holds_nothing_up(sanderling: Run, tmp_path: Path) -> None:
    """One endpoint hangs, one does not exist, and the third gets everything. The crawl ends by
    itself."""
    folder = tmp_path / "crawl"
    with (
        Endpoint(hold=PATIENCE) as hanging, closed() as absent, Endpoint() as well,
        SyntheticWeb(pages=40, seed=8).serve() as site,
    ):  # fmt: skip
        empty_crawl(sanderling, site, folder)
        for endpoint in (hanging, absent, well):
            webhook(folder, endpoint)
        ran = sanderling("crawl", "-d", folder, "--json")
        assert (ran.code, ran.json["pages"]) == (0, 40)
        deadline = time.monotonic() + PATIENCE
        while len(well.taken) < 40 and time.monotonic() < deadline:
            sanderling("crawl", "-d", folder)
        assert well.taken == told(sanderling, folder)


def test_one_that_is_gone_is_left_alone_until_it_is_tested(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with Endpoint(410) as endpoint, SyntheticWeb(pages=30, seed=8, change_rate=0.4).serve() as site:
        empty_crawl(sanderling, site, folder)
        webhook(folder, endpoint)
        site.hold(after=5)  # so that the crawl does not end before the answer is recorded
        with started("crawl", "-d", folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as crawl:
            until(lambda: "disabled" in sanderling("webhooks", folder).out)
            site.release()
            _, said = crawl.communicate(timeout=PATIENCE)
        assert crawl.returncode == 0 and "410" in said
        assert len(endpoint.posted) == 1
        site.clock.advance(3 * DAY)
        sanderling("crawl", "-d", folder, "--again")
        assert len(endpoint.posted) == 1
        assert "disabled" in sanderling("webhooks", folder).out
        tested = sanderling("webhooks", folder, "--test")
        assert tested.code == 1 and "  fine" not in tested.out
        assert "disabled" in sanderling("webhooks", folder).out
        endpoint.statuses = [204]
        ran = sanderling("webhooks", folder, "--test")
        assert ran.code == 0
        assert "fine" in ran.out
        assert endpoint.posted[-1].changes == []
        sanderling("webhooks", folder, "--deliver")
        assert endpoint.taken == told(sanderling, folder)


def test_kills_lose_nothing_and_repeat_little(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with Endpoint() as endpoint, SyntheticWeb(pages=400, seed=8).serve() as site:
        empty_crawl(sanderling, site, folder)
        webhook(folder, endpoint)
        for _ in range(3):
            seen = len(endpoint.posted)
            crawl = subprocess.Popen(
                command("crawl", "-d", folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            until(lambda seen=seen, crawl=crawl: len(endpoint.posted) > seen or crawl.poll() is not None)
            crawl.send_signal(signal.SIGKILL)
            crawl.wait()
        sanderling("crawl", "-d", folder)
        # The messenger of a killed crawl finishes its last deliveries.
        until(lambda: sanderling("webhooks", folder, "--deliver").code != 2)
        first_time = list({post.headers["webhook-id"]: post for post in endpoint.posted}.values())
        assert [change["id"] for post in first_time for change in post.changes] == told(sanderling, folder)
        assert len(endpoint.posted) - len(first_time) <= 4


def test_what_a_user_gets_wrong(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with SyntheticWeb(pages=3, seed=8).serve() as site, Endpoint() as endpoint:
        sanderling("crawl", site.url, "-d", folder, *FAST)
        assert "no webhooks" in sanderling("webhooks", folder).out
        settings = folder / "sanderling.toml"
        kept = settings.read_text()
        for wrong in ('secret_env = "NOT_SET_ANYWHERE"', 'secret_file = "nowhere"', "nonsense = 1", 'kinds = ["odd"]'):
            settings.write_text(kept + f'[[webhook]]\nurl = "{endpoint.url}"\n{wrong}\n')
            ran = sanderling("crawl", "-d", folder)
            assert ran.code == 2, wrong
            assert ran.err.count("\n") == 1
        settings.write_text(kept + f'[[webhook]]\nurl = "{endpoint.url}"\n')
        ran = sanderling("webhooks", folder, "--test")
        assert ran.code == 1
        assert "private address" in ran.err
        assert not endpoint.posted
