import time

import numpy as np

from sanderling.repository.duplicates import groups, mirrors


def test_pages_within_three_bits_are_found_and_others_not() -> None:
    chance = np.random.default_rng(1)
    hashes = chance.integers(0, 2**64, 20_000, dtype=np.uint64)
    for n in range(500):
        flipped = chance.choice(64, n % 5, replace=False)
        hashes[n + 500] = hashes[n] ^ np.bitwise_or.reduce(np.uint64(1) << flipped.astype(np.uint64), initial=0)
    found = groups((n, int(h), float(-n)) for n, h in enumerate(hashes.view(np.int64)))
    assert sorted(found) == sorted([n + 500, n] for n in range(500) if n % 5 <= 3)


def test_one_large_group_is_no_quadratic_matter() -> None:
    base = np.uint64(0x0123_4567_89AB_CDEF)
    hashes = [int(base ^ np.uint64(1 << n % 30 | 1 << 30 + n % 29)) - 2**63 for n in range(200_000)]
    started = time.process_time()
    assert [len(group) for group in groups((n, h, 0.0) for n, h in enumerate(hashes))] == [200_000]
    assert (
        time.process_time() - started < 60
    )  # less than one on any machine; every pair of them would take many minutes
    assert groups([]) == []


def test_mirrors() -> None:
    named = [[f"http://a.org/{n}", f"http://b.org/{n}"] for n in range(6)] + [["http://a.org/x", "http://c.org/y"]]
    sizes = {"http://a.org": 100, "http://b.org": 8, "http://c.org": 1}
    assert mirrors(named, sizes) == [("http://a.org", "http://b.org", 6)]
    assert mirrors(named, {**sizes, "http://b.org": 50}) == []
