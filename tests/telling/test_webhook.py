"""One delivery: its signature, its id, its pauses, and where it may go."""

import base64
import hashlib
import hmac
import json
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from sanderling.errors import BadSetting
from sanderling.network.reach import ANYWHERE
from sanderling.settings import Webhook, dump, load, read_value
from sanderling.subscriptions import AT_ONCE
from sanderling.telling import delivery
from sanderling.telling.answer import LONGEST_PAUSE, DeliveryAnswer, pause
from sanderling.telling.post import post
from sanderling.telling.record import DeliveryRecord, enrol, read, write
from sanderling.telling.secret import secret_of
from sanderling.telling.webhook import WebhookMessage, headers, message
from tests.servers import closed
from tests.telling.endpoint import Endpoint
from tests.telling.versions import version


def test_the_same_changes_have_the_same_id() -> None:
    assert message([version(1), version(2)]).id == "msg_25a8629a408f5024b40209cbf3690f42"  # receivers may remember it
    assert message([version(1)]).id != message([version(2)]).id != message([version(1), version(2)]).id
    table = json.loads(message([version(1, summary="\ud800 ü")]).body)
    assert table["type"] == "changes"
    assert table["changes"][0]["summary"] == "? ü"


def test_the_signature_is_that_of_standard_webhooks() -> None:
    """The example of the specification's reference libraries."""
    sent = WebhookMessage("msg_p5jXN8AQM9LWM0D4loKWxJek", b'{"test": 2432232314}')
    signed = headers(sent, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 1614265330.9)
    assert signed["webhook-timestamp"] == "1614265330"
    assert signed["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    plain = headers(sent, "a secret", 7)
    expected = hmac.new(b"a secret", b"msg_p5jXN8AQM9LWM0D4loKWxJek.7." + sent.body, hashlib.sha256).digest()
    assert plain["webhook-signature"] == "v1," + base64.b64encode(expected).decode()
    assert "webhook-signature" not in headers(sent, "", 7)


def test_pauses_double_up_to_a_limit_and_differ() -> None:
    assert [pause(n, 0, 1.0) for n in (1, 2, 3)] == [2, 4, 8]
    assert pause(3, 0, 0.0) == 4
    assert pause(1000, 0, 1.0) == LONGEST_PAUSE
    assert pause(1, 60, 1.0) == 60
    assert pause(1, 1e9, 1.0) == LONGEST_PAUSE


def test_a_record_goes_on_only_when_something_was_taken(tmp_path: Path) -> None:
    enrol(tmp_path / "w", "u", 5)
    enrol(tmp_path / "w", "u", 9)
    kept = read(tmp_path / "w", "u")
    assert kept is not None and kept == DeliveryRecord(delivered=5, since=kept.since)
    trying = kept.trying(8)
    failed = trying.after(DeliveryAnswer(status=503, retry_after=30.0), 3, 100.0, 1.0)
    assert (failed.delivered, failed.pending, failed.failures, failed.not_before) == (5, 8, 1, 130.0)
    assert failed.complaint == "it answered 503"
    write(tmp_path / "w", "u", failed)
    again = read(tmp_path / "w", "u")
    assert again == failed
    taken = again.after(DeliveryAnswer(status=204), 3, 140.0, 1.0)
    assert taken == DeliveryRecord(delivered=8, changes=3, last_at=140.0, since=140.0)
    assert trying.after(DeliveryAnswer(status=410), 3, 1.0, 1.0).disabled
    assert "redirects" in trying.after(DeliveryAnswer(status=302), 3, 1.0, 1.0).complaint


@pytest.mark.parametrize("address", ["http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://[::1]:{port}/"])
def test_private_addresses_are_out_of_reach(address: str) -> None:
    with Endpoint() as endpoint:
        url = address.format(port=endpoint.url.split(":")[2].split("/")[0])
        assert "private address" in post(url, {}, b"", agent="a").error
        assert not endpoint.posted


def test_a_name_that_resolves_to_a_private_address_is_refused_when_connecting(monkeypatch: pytest.MonkeyPatch) -> None:
    from sanderling.network import reach as module

    monkeypatch.setattr(module, "names_private", lambda name: False)
    with Endpoint() as endpoint:
        assert (
            "leads to the private address"
            in post(endpoint.url.replace("127.0.0.1", "localhost"), {}, b"", agent="a").error
        )
        assert not endpoint.posted


def test_redirects_are_not_followed() -> None:
    with Endpoint() as target, Endpoint(302, headers=(("Location", target.url), ("Retry-After", "7"))) as endpoint:
        assert post(endpoint.url, {}, b"x", agent="a", reach=ANYWHERE) == DeliveryAnswer(status=302, retry_after=7.0)
        assert not target.posted


def test_what_cannot_be_reached_is_said() -> None:
    with closed() as nobody:
        answer = post(nobody, {}, b"x", agent="a", reach=ANYWHERE)
    assert not answer.taken
    assert answer.complaint


def test_settings(tmp_path: Path) -> None:
    path = tmp_path / "sanderling.toml"
    path.write_text('seeds = []\n[[webhook]]\nurl = "https://e.org/h"\nkinds = ["text"]\nmin_significance = 0.2\n')
    settings, seeds = load(path)
    assert settings.webhook == (Webhook("https://e.org/h", kinds=("text",), min_significance=0.2),)
    path.write_text(dump(settings, seeds))
    assert load(path)[0] == settings
    assert "hidden" not in repr(Webhook("https://e.org/h", secret="hidden"))


@pytest.mark.parametrize(
    "wrong",
    [
        {}, {"url": "ftp://e.org/"}, {"url": "https://"}, {"url": "https://e.org/", "kind": "text"},
        {"url": "https://e.org/", "kinds": ["words"]}, {"url": "https://e.org/", "min_significance": 2},
        {"url": "https://e.org/", "secret": "hidden", "secret_env": "X"}, {"url": "https://e.org/", "hosts": "e.org"},
    ],
)  # fmt: skip
def test_settings_that_do_not_fit(wrong: object) -> None:
    with pytest.raises(BadSetting) as caught:
        read_value("webhook", [wrong])
    assert "\n" not in str(caught.value)
    assert "hidden" not in str(caught.value)
    with pytest.raises(BadSetting, match="twice"):
        read_value("webhook", [{"url": "https://e.org/"}] * 2)


def test_secrets_come_from_three_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").write_text("from a file\n")
    monkeypatch.setenv("HOOK", "from the environment")
    url = "https://e.org/"
    assert secret_of(Webhook(url), tmp_path) == ""
    assert secret_of(Webhook(url, secret="said"), tmp_path) == "said"
    assert secret_of(Webhook(url, secret_file="key"), tmp_path) == "from a file"
    assert secret_of(Webhook(url, secret_env="HOOK"), tmp_path) == "from the environment"
    for webhook in (
        Webhook(url, secret_file="none"), Webhook(url, secret_env="NO_HOOK"), Webhook(url, secret="whsec_not base64"),
    ):  # fmt: skip
        with pytest.raises(BadSetting):
            secret_of(webhook, tmp_path)


def test_a_clock_that_was_set_back_delays_no_delivery(tmp_path: Path) -> None:
    """The next try was set for a minute later, and then the clock was set back by a day."""
    now = time.time()
    write(tmp_path, "k", DeliveryRecord(delivered=0, failures=1, not_before=now + 86_460.0))
    receiver = SimpleNamespace(key="k", name="n", baseline=True, wanted=lambda number: None, when=AT_ONCE, gap=0.0)
    made = delivery._Deliveries(None, SimpleNamespace(webhooks=tmp_path), receiver, print)  # type: ignore[arg-type]
    assert made._wait(now, last=False) == 0.0
    assert made._wait(now + 86_400.0, last=False) == pytest.approx(60.0)
