"""The simulation of shards: whose URLs are whose, and what the parts of it compute."""

import numpy as np
import pytest

from lab import experiment_parser, shards


def test_a_domain_stays_where_it_is_or_goes_to_the_new_shard() -> None:
    before, after = shards.owners(20_000, 8), shards.owners(20_000, 9)
    moved = before != after
    assert set(after[moved]) == {8}
    assert moved.mean() == pytest.approx(1 / 9, abs=0.01)
    assert np.bincount(before).max() < 1.05 * len(before) / 8


def test_a_url_is_sent_once_to_the_shard_that_has_its_domain() -> None:
    web = shards.simulated_web(20_000, 1_000, np.random.default_rng(0))
    owner = shards.owners(len(web.sizes), 4)
    went = shards.traffic(web, owner, 4, 20.0, np.random.default_rng(1))
    held = np.bincount(owner, web.sizes, 4)
    assert (went.urls.diagonal() == 0).all()
    assert (went.urls <= held).all()
    assert went.urls.sum() < went.links


def test_messages_are_few_when_urls_are_many_and_when_they_are_few() -> None:
    full = shards.messages(np.array([[0, 10_000_000], [10_000_000, 0]]), seconds=100.0, patience=5.0)
    assert full == pytest.approx(10_000_000 / 100 / shards.BATCH)
    rare = shards.messages(np.array([[0, 10], [10, 0]]), seconds=1000.0, patience=5.0)
    assert rare == pytest.approx(10 / 1000, rel=0.05)


def test_a_large_domain_keeps_a_shard_waiting() -> None:
    even = shards.days_until(np.full(100, 1000), capacity=10.0, pause=1.0, shares=(0.5, 1.0))
    assert even == pytest.approx([5000 / 86_400, 10_000 / 86_400])
    *_, last = shards.days_until(np.array([*[1] * 100, 100_000]), capacity=10.0, pause=1.0, shares=(0.5, 1.0))
    assert last == pytest.approx(100_000 / 86_400, rel=0.01)


def test_the_command_prints_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    options = experiment_parser("shards").parse_args(["--urls", "20000", "--most", "500", "--shards", "4"])
    assert options.run(options) == 0
    printed = capsys.readouterr().out
    assert "20,000 URLs" in printed and "links that lead to another shard" in printed
