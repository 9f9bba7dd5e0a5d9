"""The contract of a store, run on every kind: ranks, links, aliases, held URLs and beliefs."""

from sanderling.model import Belief, Counts, Host, Kind, Outcome, Reworked, State, Visit
from sanderling.repository.store import Store
from sanderling.urls import identity
from tests.repository.test_store import HOST, Open, commit, open_store, store, url, visit

__all__ = ["open_store", "store"]


def packed(*paths: str) -> bytes:
    return b"".join(url(path).id.to_bytes(8, "little", signed=True) for path in paths)


def test_taking_between_two_ranks(store: Store) -> None:
    store.seed([], [url(f"{depth}", depth) for depth in range(6)], [HOST], Counts())
    assert [task.depth for task in store.take(7, 9, set(), above=-3.0)] == [0, 1, 2, 3]
    assert [task.depth for task in store.take(7, 9, {url("4").id}, above=-4.0, below=-1.0)] == [2, 3]
    assert [task.depth for task in store.take(7, 1, set(), below=-1.0)] == [2]
    assert store.best_ranks(7, 2, {url("0").id}) == [-1.0, -2.0]
    assert store.best_ranks(8, 2, set()) == []


def test_ranks_can_be_sampled_and_changed(store: Store) -> None:
    urls = [url(str(n), n) for n in range(1000)]
    store.seed([], [*urls, url("out", 5000, State.EXCLUDED)], [HOST], Counts())
    assert sorted(store.ranks(1000)) == [-float(n) for n in reversed(range(1000))]
    sample = store.ranks(200)
    assert len(sample) == 200
    assert -650 < sum(sample) / 200 < -350
    store.rerank([(urls[700].id, 9.5), (url("out").id, 10.0), (123, 11.0)])
    assert [task.depth for task in store.take(7, 2, set())] == [700, 0]
    assert {fact.rank for fact in store.url_facts() if fact.depth == 5000} == {-5000.0}


def test_more_pages_that_link_to_a_url_change_its_rank(store: Store) -> None:
    store.seed([], [url("a", 0), url("b", 1), url("c", 2)], [HOST], Counts())
    b, c = url("b").id, url("c").id
    store.commit(commit(1, [visit("a")], off_topic={b: (1, None), c: (2, 0.5)}))
    assert {(fact.id, fact.rank) for fact in store.url_facts() if fact.id in (b, c)} == {(b, -1.0), (c, 0.5)}
    assert sorted(store.off_topic(9)) == sorted([(b, 7, 1, 1, 0.0), (c, 7, 2, 2, 0.0)])
    store.commit(commit(2, [], off_topic={c: (0, 0.25)}))
    assert [task.id for task in store.take(7, 1, set())] == [c]
    assert store.off_topic(9) == [(b, 7, 1, 1, 0.0)]


def test_the_whole_is_read(store: Store) -> None:
    names = ["a", "b", "c", "d"]
    store.seed([], [url(name, 1) for name in names], [HOST], Counts())
    store.commit(commit(1, [visit("a", 0, links=packed("b", "c"), at=1.0), visit("b", 1, links=packed("a"), at=2.0)]))
    facts = list(store.url_facts())
    assert sorted(fact.id for fact in facts) == sorted(url(name).id for name in names)
    assert {(f.host, f.depth, f.rank, f.alias) for f in facts} == {(7, 1, -1.0, 0)}
    assert sorted(f.state for f in facts) == [State.QUEUED, State.QUEUED, State.FETCHED, State.FETCHED]
    assert dict(store.url_texts()) == {url(name).id: url(name).url for name in names}
    assert dict(store.visit_times()) == {url("a").id: 1.0, url("b").id: 2.0}
    links = dict(store.packed_links())
    assert links == {url("a").id: packed("b", "c"), url("b").id: packed("a")}


def test_pages_are_weighed(store: Store) -> None:
    store.seed([], [url("a"), url("b"), url("c")], [HOST], Counts())
    store.commit(commit(1, [visit("a"), visit("b", 1)]))
    assert dict(store.importances()) == {url("a").id: 0.0, url("b").id: 0.0}
    store.weigh([(url("b").id, 1.0), (url("c").id, 0.5), (123, 0.5)])  # one was not visited, one is not known
    assert {page.url: page.importance for page in store.pages()} == {"http://e.org/a": 0.0, "http://e.org/b": 1.0}
    store.commit(commit(2, [visit("b", 2, at=9.0)]))
    assert dict(store.importances())[url("b").id] == 1.0


def test_links_in_both_directions(store: Store) -> None:
    store.seed([], [url("a"), url("b"), url("c")._replace(alias=url("a").id)], [HOST], Counts())
    store.commit(commit(1, [visit("a", 0, links=packed("b", "c", "a")), visit("b", 1, links=packed("c", "d"))]))
    assert store.links_of(url("a").id) == packed("b", "c", "a")
    assert store.links_of(url("c").id) == b""
    assert store.linking(url("b").id) == [url("a").id]
    assert store.linking(url("a").id) == sorted([url("a").id, url("b").id])
    # eight bytes that begin in one identity and end in the next are not a link
    split = int.from_bytes(packed("b", "c")[3:11], "little", signed=True)
    assert store.linking(split) == []


def test_one_page_under_several_names(store: Store) -> None:
    store.seed(["http://e.org/"], [url("a"), url("b"), url("c")], [Host(7, "http://e.org")], Counts())
    a, b, c = (identity(f"http://e.org/{path}") for path in "abc")
    both = [
        visit("a", 0, simhash=-5, text_digest=b"t", canonical=b, language="de"),
        visit("b", 1, simhash=-5, text_digest=b"t"),
    ]
    store.commit(commit(1, both, aliases=[(a, b)], dated=[(c, 17.0)]))
    assert store.claims([b, c]) == [(a, b)]
    facts = store.page_facts([a, c])
    assert facts[a] == (State.FETCHED, b, 200, b"t", -5, "de")
    assert facts[c] == (State.QUEUED, 0, 0, b"", 0, "")
    assert {page.url: page.same_as for page in store.pages()} == {
        "http://e.org/a": "http://e.org/b",
        "http://e.org/b": None,
    }
    assert {page.simhash for page in store.pages()} == {"fffffffffffffffb"}
    assert sorted(row[:2] for row in store.simhashes()) == sorted([(a, -5), (b, -5)])


def test_what_is_held_back_is_listed_and_let_go(store: Store) -> None:
    store.seed([], [url("a"), url("b"), url("c")], [Host(7, "http://e.org")], Counts())
    a, b, c = (identity(f"http://e.org/{path}") for path in "abc")
    learned = Host(7, "http://e.org", learned=b"x")
    changes = [Reworked(a, State.KNOWN, "held: why"), Reworked(b, State.EXCLUDED, "merged: why", c)]
    mirror = url("m", state=State.KNOWN)._replace(reason="held-mirror:http://o.org", host=8)
    store.rework(changes, [url("d", state=State.KNOWN), mirror], [learned], Counts(held=3))
    assert store.held(8, mirror.reason, 5) == [(mirror.id, 0)]
    assert [task.id for task in store.take(7, 9, set())] == [c]
    assert store.held(7, "held: why", 5) == [(a, 0)]
    assert {row[0] for row in store.all_held(10)} == {a, identity("http://e.org/d")}
    assert store.merged(7, "merged: why", 5) == [(b, 0)]
    assert [host.learned for host in store.hosts()] == [b"x"]
    states = {7: {State.KNOWN: 2, State.QUEUED: 1, State.EXCLUDED: 1}, 8: {State.KNOWN: 1}}
    assert store.host_states() == states
    store.rework([Reworked(a, State.QUEUED, "")], [], [], Counts(queued=2))
    assert {task.id for task in store.take(7, 9, set())} == {a, c}
    assert store.counts().queued == 2
    assert [page.url for page in store.unanswered(State.KNOWN)] == ["http://e.org/d", "http://e.org/m"]


def test_what_is_believed_is_kept_and_read_back(store: Store, open_store: Open) -> None:
    store.seed([], [url("a"), url("b")], [HOST], Counts())
    store.commit(commit(1, [visit("a", at=5.0), visit("b", 1, at=6.0)]))
    a, b = url("a").id, url("b").id
    first = store.seen([a])[a]
    assert (first.host, first.at, first.evidence, first.failures, first.size) == (7, 5.0, b"", 0, 10)
    belief = Belief(a, 9.0, 5.0, 4, b"e" * 64, 24.0, 9.0, 2)
    store.commit(commit(2, [visit("a", 2, at=9.0)], beliefs=[belief], trust=[(7, b"t")]))
    belief = belief._replace(at=10.0, failures=0)
    store.commit(commit(3, [visit("a", 3, at=10.0)], beliefs=[belief], trust=[(7, b"u")]))
    assert store.trust() == {7: b"u"}
    again = store.seen([a, b])
    assert (again[a].at, again[a].evidence, again[a].interval, again[b].at) == (10.0, b"e" * 64, 24.0, 6.0)
    reader = open_store(readonly=True)
    subjects = {subject.id: subject for subject in reader.subjects()}
    reader.close()
    assert set(subjects) == {a, b}
    assert (subjects[a].at, subjects[a].since, subjects[a].kinds, bytes(subjects[a].evidence or b"")) == (
        10.0, 5.0, 4, b"e" * 64,
    )  # fmt: skip
    assert (subjects[b].at, subjects[b].evidence, subjects[b].url) == (6.0, None, "http://e.org/b")


def test_tasks_for_another_visit_come_in_the_order_asked_for(store: Store) -> None:
    store.seed([], [url("a"), url("b")], [HOST], Counts())
    store.commit(commit(1, [visit("a", etag='"1"'), visit("b", 1)]))
    store.revisit_all(100.0, sitemaps=True)
    assert store.next_due(0.0) == 100.0
    store.forget_due()
    assert store.next_due(0.0) is None
    tasks = store.tasks([url("b").id, url("a").id, 12345])
    assert [(task.url, task.etag, task.digest) for task in tasks] == [
        ("http://e.org/b", "", b"d" * 16),
        ("http://e.org/a", '"1"', b"d" * 16),
    ]


def test_sitemaps_and_who_left_are_found(store: Store) -> None:
    sitemap = url("sitemap.xml")._replace(kind=Kind.SOURCE)
    store.seed([], [sitemap, url("a"), url("out", 1, State.EXCLUDED)], [HOST], Counts())
    assert store.sitemaps() == []
    read = Visit(id=sitemap.id, outcome=Outcome.SOURCE, at=5.0)
    store.commit(commit(1, [read], beliefs=[Belief(sitemap.id, 5.0, 5.0, 0, b"", 1.5, 5.0, 0)]))
    assert store.sitemaps() == [(sitemap.id, 7, 5.0, 1.5)]
    assert store.excluded_for("left") == []
    store.rework([Reworked(url("a").id, State.EXCLUDED, "left")], [], [], Counts())
    assert store.excluded_for("left") == [url("a").id]
