import math
import random
from collections import Counter
from collections.abc import Collection

from sanderling.model import Task
from sanderling.server.frontier.distributor import LONGEST_TRUST, Cuts, Distributor, cuts


class Queue:
    """A store's queue in a dictionary: host -> id -> rank."""

    def __init__(self, hosts: dict[int, dict[int, float]]) -> None:
        self.hosts = hosts
        self.looks = 0

    def take(self, host: int, count: int, leased: Collection[int], above: float, below: float) -> list[Task]:
        self.looks += 1
        fitting = [(-rank, id) for id, rank in self.hosts[host].items() if above <= rank < below and id not in leased]
        return [Task(id, "", 0, 0, 0) for _, id in sorted(fitting)[:count]]

    def ranks(self, most: int) -> list[float]:
        every = [rank for host in self.hosts.values() for rank in host.values()]
        return every if len(every) <= most else random.Random(1).sample(every, most)

    def settle(self, host: int, tasks: list[Task]) -> None:
        for task in tasks:
            del self.hosts[host][task.id]


def test_thirds() -> None:
    assert cuts([]) == Cuts(-math.inf, -math.inf)
    assert [cuts([7.0]).list_of(rank) for rank in (9, 7, 6)] == [1, 1, 3]
    for count in range(3, 40):
        divided = cuts([float(n) for n in range(count)])
        sizes = Counter(divided.list_of(n) for n in range(count))
        assert max(sizes.values()) - min(sizes.values()) <= 1
    assert set(map(cuts([1.0] * 10).list_of, [1.0] * 10)) == {1}


def test_four_to_two_to_one() -> None:
    queue = Queue({1: {n: float(n) for n in range(9000)}})
    distributor = Distributor(queue.take, queue.ranks)
    distributor.refresh()
    served: Counter[int] = Counter()
    for count in (1, 2, 3, 5, 10, 49, 100, 250):
        for _ in range(7):
            tasks = distributor.take(1, count, set())
            assert len({task.id for task in tasks}) == count
            served.update(distributor.cuts.list_of(task.id) for task in tasks)
    assert served == {1: 4 * 420, 2: 2 * 420, 3: 420}


def test_best_of_each_list_first_and_well_mixed() -> None:
    queue = Queue({1: {n: float(n) for n in range(30)}})
    tasks = Distributor(queue.take, queue.ranks).take(1, 14, set())
    assert [task.id for task in tasks] == [29, 19, 28, 9, 27, 18, 26, 25, 17, 24, 8, 23, 16, 22]


def test_leased_urls_stay_leased() -> None:
    queue = Queue({1: {n: float(n) for n in range(30)}})
    distributor = Distributor(queue.take, queue.ranks)
    leased: set[int] = set()
    for _ in range(8):
        tasks = distributor.take(1, 5, leased)
        assert not leased & {task.id for task in tasks}
        leased |= {task.id for task in tasks}
    assert leased == set(range(30))


def test_an_empty_list_gives_its_turns_to_the_others() -> None:
    for ranks in ([9.0] * 20, [5.0] * 20, [1.0] * 20, [9.0] * 3 + [1.0] * 17, [5.0] * 10 + [1.0] * 10):
        for count in (1, 3, 7, 20, 30):
            queue = Queue({1: dict(enumerate(ranks)), 2: {n: float(n % 10) for n in range(1000)}})
            distributor = Distributor(queue.take, queue.ranks)
            got: list[Task] = []
            while tasks := distributor.take(1, count, {task.id for task in got}):
                assert len(tasks) == min(count, 20 - len(got))
                got += tasks
            assert len({task.id for task in got}) == 20


def test_nothing_starves_while_better_urls_keep_coming() -> None:
    queue = Queue({1: {n: float(n) for n in range(100)}})
    distributor = Distributor(queue.take, queue.ranks)
    fresh = 1000
    for turn in range(1000):
        queue.settle(1, distributor.take(1, 1, set()))
        queue.hosts[1][fresh + turn] = 1000.0 + turn  # always the best so far
    assert not set(range(100)) & set(queue.hosts[1])


def test_every_host_is_served_from_all_lists_even_one_url_at_a_time() -> None:
    queue = Queue({host: {host * 1000 + n: float(n) for n in range(90)} for host in range(7)})
    distributor = Distributor(queue.take, queue.ranks)
    served = {host: Counter[int]() for host in range(7)}
    for _ in range(21):
        for host in range(7):
            (task,) = distributor.take(host, 1, set())
            served[host][distributor.cuts.list_of(task.id % 1000)] += 1
    assert all(counts == {1: 12, 2: 6, 3: 3} for counts in served.values())


def test_many_hosts_with_one_url_each_keep_the_ratio_of_the_turns() -> None:
    queue = Queue({host: {host: float(host)} for host in range(700)})
    distributor = Distributor(queue.take, queue.ranks)
    assert all(len(distributor.take(host, 5, set())) == 1 for host in range(700))


def test_the_division_follows_the_queue_without_being_asked_all_the_time() -> None:
    queue = Queue({1: {n: float(n) for n in range(3000)}})
    asked = 0

    def ranks(most: int) -> list[float]:
        nonlocal asked
        asked += 1
        return queue.ranks(most)

    distributor = Distributor(queue.take, ranks)
    for _ in range(200):
        distributor.take(1, 50, set())
    assert asked <= 10 + 200 * 50 / LONGEST_TRUST
    assert abs(distributor.cuts.first - 2000) < 150
    queue.hosts[1] = {n: n / 100 for n in range(3000)}
    for _ in range(60):
        distributor.take(1, 50, set())
    assert abs(distributor.cuts.first - 20) < 1.5


def test_a_full_host_costs_three_looks() -> None:
    queue = Queue({1: {n: float(n) for n in range(3000)}})
    distributor = Distributor(queue.take, queue.ranks)
    distributor.take(1, 50, set())
    assert queue.looks == 3
