import time
from collections.abc import Collection
from pathlib import Path

import pytest

from sanderling.model import Host, HostLease, HostNote, Task
from sanderling.server.frontier.allocator import FIRST_STOCK, LARGEST_STOCK, Allocator, TaskQueue, owner
from sanderling.server.frontier.assignment import assignment
from sanderling.settings import Settings


class Queue(TaskQueue):
    """A store's queue in a dictionary."""

    def __init__(self, sizes: dict[int, int]) -> None:
        self.tasks = {h: [Task(h * 1000 + n, f"http://{h}/{n}", 0, 0, 0) for n in range(k)] for h, k in sizes.items()}

    def take(self, host: int, count: int, leased: Collection[int], /) -> list[Task]:
        return [task for task in self.tasks[host] if task.id not in leased][:count]

    def settle(self, host: int, ids: list[int]) -> None:
        self.tasks[host] = [task for task in self.tasks[host] if task.id not in ids]

    def lease(self, made: Allocator, client: str, want: int, room: int) -> list[HostLease]:
        return made.lease(client, want, room, self)


def allocator(sizes: dict[int, int], **settings: object) -> tuple[Allocator, Queue]:
    queue = Queue(sizes)
    made = Allocator(Settings(**settings))  # type: ignore[arg-type]
    for host, count in sizes.items():
        made.add(Host(host, f"http://{host}"), count, False)
    return made, queue


def leased(leases: list) -> dict[str, list[int]]:  # type: ignore[type-arg]
    return {lease.origin: [task.id for task in lease.tasks] for lease in leases}


def test_a_host_belongs_to_one_client() -> None:
    made, queue = allocator(dict.fromkeys(range(20), 50))
    made.join("a")
    made.join("b")
    first = leased(queue.lease(made, "a", 999, 999))
    second = leased(queue.lease(made, "b", 999, 999))
    assert not first.keys() & second.keys()
    assert len(first) + len(second) == 20
    assert queue.lease(made, "a", 999, 999) == queue.lease(made, "b", 999, 999) == []


def test_hosts_are_served_in_turn() -> None:
    made, queue = allocator(dict.fromkeys(range(5), 10))
    made.join("a")
    assert len(queue.lease(made, "a", 20, 99)) == 5
    assert made.leased == 5 * FIRST_STOCK


def test_a_host_counts_for_its_own_connections_only() -> None:
    made, queue = allocator(dict.fromkeys(range(10), 50), delay=0.0)
    made.join("a")
    for host in range(10):
        made.note(HostNote(f"http://{host}", None, 0.0, 0.1))
    first = queue.lease(made, "a", 4, 99)
    assert [len(lease.tasks) for lease in first] == [4] * 4
    # What it holds already does not fill the connections that it lacks.
    more = queue.lease(made, "a", 2, 99)
    assert len({lease.origin for lease in more} - {lease.origin for lease in first}) == 2
    assert sum(len(lease.tasks) for lease in queue.lease(made, "a", 9, 5)) == 5


def test_a_host_without_limits_is_spread_over_clients() -> None:
    made, queue = allocator({1: 1000}, per_host=32, delay=0.0)
    made.join("a")
    made.join("b")
    (one,) = queue.lease(made, "a", 500, 9999)
    (two,) = queue.lease(made, "b", 500, 9999)
    assert one.connections == two.connections == 16
    assert not {t.id for t in one.tasks} & {t.id for t in two.tasks}


def test_the_first_client_leaves_connections_to_those_still_to_come() -> None:
    queue = Queue({1: 1000})
    made = Allocator(Settings(per_host=8, delay=0.0), crew=2)
    made.add(Host(1, "http://1"), 1000, False)
    connections = []
    for client in "ab":
        made.join(client)
        (lease,) = queue.lease(made, client, 500, 9999)
        connections.append(lease.connections)
    assert connections == [4, 4]


def test_a_client_that_joins_later_waits_until_the_others_have_let_go_of_connections() -> None:
    made, queue = allocator({1: 1000}, per_host=8, delay=0.0)
    granted: dict[str, list[int]] = {}
    for client in "abc":
        made.join(client)
        for _ in range(4):
            for each in sorted(made._own, reverse=True):
                for lease in queue.lease(made, each, 10, 9999):
                    granted.setdefault(each, [0]).append(lease.connections)
                    # After a smaller budget, it still uses what it had.
                    assert sum(max(told[-2:]) for told in granted.values()) <= 8
                done = [held.task.id for held in made._held.values() if held.client == each][:-1]
                queue.settle(1, done)
                made.settle((id, False) for id in done)
    assert {each: told[-1] for each, told in granted.items()} == {"a": 2, "b": 2, "c": 2}


def test_a_host_whose_cookies_are_kept_belongs_to_one_client() -> None:
    made, queue = allocator({1: 1000}, per_host=32, delay=0.0, cookies=True)
    made.join("a")
    made.join("b")
    (one,) = queue.lease(made, "a", 50, 9999) + queue.lease(made, "b", 50, 9999)
    assert one.connections == 32
    (keeper,) = {held.client for held in made._held.values()}
    for late in range(20):
        made.join(str(late))
    made.settle((task.id, False) for task in one.tasks)
    assert [each for each in made._own if queue.lease(made, each, 50, 9999)] == [keeper]
    made.leave(keeper)
    assert any(queue.lease(made, each, 50, 9999) for each in made._own)


def test_no_more_than_there_is_room_for() -> None:
    made, queue = allocator(dict.fromkeys(range(5), 10))
    made.join("a")
    queue.lease(made, "a", 99, 7)
    assert made.leased == 7
    queue.lease(made, "a", 99, 0)
    assert made.leased == 7


def test_a_lost_client_returns_its_leases() -> None:
    made, queue = allocator({1: 4})
    made.join("a")
    queue.lease(made, "a", 99, 99)
    made.leave("a", doomed=1002)
    queue.settle(1, [1002])
    made.join("b")
    assert leased(queue.lease(made, "b", 99, 99)) == {"http://1": [1000, 1001, 1003]}


def test_settling_and_the_end() -> None:
    made, queue = allocator({1: 2})
    made.join("a")
    queue.lease(made, "a", 99, 99)
    assert made.held("b", 1000) is None
    for id in (1000, 1001):
        assert made.held("a", id) is not None
        made.settle([(id, False)])
        queue.settle(1, [id])
    assert made.held("a", 1000) is None
    assert made.nothing_left()


def test_stock_follows_the_pace_of_a_host() -> None:
    made, queue = allocator({1: 1000, 2: 1000})
    made.join("a")
    made.note(HostNote("http://1", None, 0.0, 0.02))
    made.note(HostNote("http://2", None, 0.0, 30.0))
    got = leased(queue.lease(made, "a", 999, 9999))
    assert len(got["http://1"]) == LARGEST_STOCK
    assert len(got["http://2"]) == 2


def test_with_a_depth_limit_no_level_begins_before_the_last_is_done() -> None:
    queue = Queue({1: 2})
    made = Allocator(Settings(max_depth=5))
    made.add(Host(1, "http://1"), 2, False)
    made.add_depths({0: 2})
    made.join("a")
    queue.lease(made, "a", 99, 99)
    made.settle([(1000, False)])
    queue.settle(1, [1000])
    queue.tasks[1].append(Task(5, "http://1/deeper", 1, 0, 0))
    made.add(Host(1, "http://1"), 1, False)
    made.add_depths({1: 1})
    assert queue.lease(made, "a", 99, 99) == []
    made.settle([(1001, False)])
    queue.settle(1, [1001])
    assert leased(queue.lease(made, "a", 99, 99)) == {"http://1": [5]}


def test_few_hosts_move_when_clients_come_and_go() -> None:
    origins = [f"http://h{n}" for n in range(3000)]
    four = {origin: owner(origin, ["a", "b", "c", "d"]) for origin in origins}
    five = {origin: owner(origin, ["a", "b", "c", "d", "e"]) for origin in origins}
    moved = [origin for origin in origins if four[origin] != five[origin]]
    assert {five[origin] for origin in moved} == {"e"}
    assert len(moved) < len(origins) / 5 * 1.2
    assert min(list(four.values()).count(client) for client in "abcd") > len(origins) / 4 * 0.8


def finish(made: Allocator, queue: Queue, client: str, keep: int = 0) -> None:
    """A client visits all that it holds, but `keep` pages of each host."""
    by_host: dict[int, list[int]] = {}
    for id, held in made._held.items():
        if held.client == client:
            by_host.setdefault(held.site.host.id, []).append(id)
    for host, ids in by_host.items():
        done = ids[keep:]
        queue.settle(host, done)
        made.settle((id, False) for id in done)


def test_hosts_move_to_a_client_that_joins_at_their_next_lease() -> None:
    hosts = [f"http://{host}" for host in range(40)]
    made, queue = allocator(dict.fromkeys(range(40), 500))
    made.join("a")
    assert len(queue.lease(made, "a", 999, 999)) == 40
    finish(made, queue, "a", keep=1)  # so that it may have more
    made.join("b")
    belong = {client: {host for host in hosts if owner(host, "ab") == client} for client in "ab"}
    # What another client still visits is not leased to two, and not leased to it again.
    assert leased(queue.lease(made, "a", 999, 999)).keys() == belong["a"]
    assert not queue.lease(made, "b", 999, 999)
    finish(made, queue, "a")
    for _ in range(5):  # and stay there
        for client in "ab":
            assert leased(queue.lease(made, client, 999, 999)).keys() == belong[client]
            finish(made, queue, client, keep=1)
    # When a client comes and goes, a host that is still being visited stays where it is.
    made.join("c")
    made.leave("c")
    for client in "ab":
        assert leased(queue.lease(made, client, 999, 999)).keys() == belong[client]


def test_a_client_that_does_not_settle_a_lease_is_named() -> None:
    made, queue = allocator({1: 4})
    made.join("a")
    queue.lease(made, "a", 99, 99)
    assert made.expired(0.0) == set()
    assert made.expired(float("inf")) == {"a"}
    made.leave("a")
    made.join("b")
    assert made.leased == 0
    assert sum(len(lease.tasks) for lease in queue.lease(made, "b", 99, 99)) == 4


def test_a_host_with_a_long_pause_holds_nothing() -> None:
    made, queue = allocator({1: 4, 2: 4})
    made.join("a")
    made.note(HostNote("http://1", None, time.time() + 3600, 3600.0))
    assert leased(queue.lease(made, "a", 99, 99)).keys() == {"http://2"}
    made.note(HostNote("http://1", None, time.time() + 1, 3600.0))
    assert [len(lease.tasks) for lease in queue.lease(made, "a", 99, 99)] == [1]


def test_a_pause_noted_before_the_clock_was_set_back_is_over() -> None:
    made, queue = allocator({1: 4})
    made.join("a")
    made.note(HostNote("http://1", None, time.time() + 3600, 2.0))
    assert leased(queue.lease(made, "a", 99, 99)).keys() == {"http://1"}


def test_a_host_whose_queue_was_emptied_by_others_is_done() -> None:
    made, queue = allocator({1: 5})
    made.join("a")
    queue.settle(1, [task.id for task in queue.tasks[1]])
    assert queue.lease(made, "a", 10, 99) == []
    assert made.nothing_left()


def at_one_address(made: Allocator, hosts: Collection[int], not_before: float = 0.0) -> None:
    for host in hosts:
        made.note(HostNote(f"http://{host}", None, not_before, 0.1, address="10.0.0.1"))


def test_hosts_at_one_address_belong_to_one_client() -> None:
    made, queue = allocator(dict.fromkeys(range(20), 50), by_address=True)
    made.join("a")
    made.join("b")
    first = leased(queue.lease(made, "a", 999, 999)) | leased(queue.lease(made, "b", 999, 999))
    assert [len(ids) for ids in first.values()] == [1] * 20  # their addresses are not known yet
    at_one_address(made, range(20))
    for host in range(20):
        queue.settle(host, first[f"http://{host}"])
        made.settle([(first[f"http://{host}"][0], False)])
    home, other = sorted(("a", "b"), key=lambda client: client != owner("10.0.0.1", ["a", "b"]))
    assert queue.lease(made, other, 999, 999) == []
    assert (
        sum(map(len, leased(queue.lease(made, home, 999, 999)).values())) == 100
    )  # ten seconds of work for all together


def test_a_host_moves_to_the_client_of_its_address_when_it_is_free() -> None:
    made, queue = allocator({1: 50, 2: 50}, by_address=True)
    clients = [f"client-{n}" for n in range(8)]
    for client in clients:
        made.join(client)
    held = {client: leased(queue.lease(made, client, 99, 99)) for client in clients}
    at_one_address(made, [1, 2])
    for leases in held.values():
        for ids in leases.values():
            queue.settle(ids[0] // 1000, ids)
            made.settle([(ids[0], False)])
    assert [client for client in clients if queue.lease(made, client, 99, 99)] == [owner("10.0.0.1", clients)]


def test_hosts_at_one_address_share_their_pause() -> None:
    made, queue = allocator({1: 50, 2: 50}, by_address=True)
    made.join("a")
    at_one_address(made, [2])
    later = time.time() + 30
    at_one_address(made, [1], not_before=later)
    leases = queue.lease(made, "a", 99, 99)
    assert len(leases) == 2
    assert min(lease.not_before for lease in leases) == later
    made, queue = allocator({1: 50, 2: 50}, by_address=True)
    made.join("a")
    at_one_address(made, [1, 2], not_before=time.time() + 300)
    assert queue.lease(made, "a", 99, 99) == []


def test_an_address_that_is_used_up_does_not_stand_in_the_way() -> None:
    made, queue = allocator(dict.fromkeys(range(300), 50), by_address=True)
    made.join("a")
    at_one_address(made, range(299))
    leases: dict[str, list[int]] = {}
    for _ in range(9):
        leases |= leased(queue.lease(made, "a", 64, 9999))
    assert "http://299" in leases


def test_a_client_holds_as_much_as_it_can_handle() -> None:
    stocks = {}
    for name, planned, taken in (("usual", 10, 12), ("slow", 10, 50), ("quick", 10, 2)):
        made, queue = allocator({1: 5000})
        made.join("a")
        made.note(HostNote("http://1", None, 0.0, 0.1))
        for _ in range(500):
            made.paces["a"].settle(planned, taken)
        stocks[name] = sum(map(len, leased(queue.lease(made, "a", 999, 9999)).values()))
    assert stocks["slow"] * 2 < stocks["usual"] < stocks["quick"] < 250
    assert 90 <= stocks["usual"] <= 110


def test_the_plan_of_a_lease_follows_the_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    made, queue = allocator({1: 50})
    made.join("a")
    made.note(HostNote("http://1", None, time.time() + 3, 2.0))
    (lease,) = queue.lease(made, "a", 99, 99)
    plans = [round(held.planned) for held in made._held.values()]
    assert plans == [5, 7, 9, 11, 13]
    queue.settle(1, [task.id for task in lease.tasks])
    for task in lease.tasks:
        made.settle([(task.id, False)])
    assert made.paces["a"].late < 1.25  # all of them came before their time


def test_the_user_may_say_which_client_a_host_belongs_to(tmp_path: Path) -> None:
    code = "def of(host, clients):\n    return {'1': clients[0], '2': clients[1], '3': 'nobody'}[host[-1]]\n"
    (tmp_path / "mine.py").write_text(code)
    mine = assignment(Settings(assignment="mine.py:of"), tmp_path)
    assert [mine(f"http://{host}", ["b", "a"]) for host in (1, 2)] == ["a", "b"]
    # It names nobody who is there; it fails.
    for host in ("http://3", "http://4"):
        assert mine(host, ["a", "b"]) == owner(host, ["a", "b"])
    queue, made = Queue({1: 50, 2: 50}), Allocator(Settings(), assignment=mine)
    for host in (1, 2):
        made.add(Host(host, f"http://{host}"), 50, False)
    made.join("a")
    made.join("b")
    assert [set(leased(queue.lease(made, client, 99, 99))) for client in "ab"] == [{"http://1"}, {"http://2"}]
