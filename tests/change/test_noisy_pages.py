"""The course of noisy pages: few false alarms at first, none in the end, and every edit is told."""

from bench.noisy_pages import NOISE, VISITS, is_edit, page
from tests.change.visited import VisitedPage


def test_noisy_pages() -> None:
    false: dict[str, list[int]] = {}
    for name in NOISE:
        visited = VisitedPage()
        told = visited.news(page(name, visit) for visit in range(VISITS))
        assert all(told[visit] for visit in range(VISITS) if is_edit(visit)), (name, told)
        false[name] = [visit for visit in range(VISITS) if told[visit] and not is_edit(visit)]
    assert sum(map(len, false.values())) <= 15, false
    assert not [name for name, visits in false.items() if any(visit >= VISITS - 6 for visit in visits)], false
