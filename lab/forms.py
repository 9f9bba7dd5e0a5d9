"""`sanderling lab forms`: how many of the records behind a form are reached, against queries and
requests.

A search engine in memory answers queries over records whose words follow Zipf's law and keep to
topics. Strategies see its answers only, an oracle knows all records and takes the best word each
time (greedy set cover). The strategy of Sanderling is the code that crawls use
(`forms/probing.py`).
"""

import argparse
import itertools
import random
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from lab.confidence import mean as mean_of
from lab.confidence import plus_minus, repeated
from sanderling.documents.html_forms import forms_of
from sanderling.documents.tree import parse
from sanderling.forms.answers import Likeness
from sanderling.forms.kinds import judge
from sanderling.forms.probing import Prober
from sanderling.model.form_facts import Field, Form, Option, Submission
from sanderling.testing.prose import words as prose

GOAL = 0.9


class HiddenDatabase(NamedTuple):
    """A database and what its form shows."""

    name: str
    records: int
    shown: int  # results a query at most
    per_page: int


SETTINGS = (
    HiddenDatabase("100 results a query", 2000, 100, 100),
    HiddenDatabase("50 results a query", 1000, 50, 50),
    HiddenDatabase("10 pages of 10", 2000, 100, 10),
)


class DatabaseForm:
    """Answers one word with the records that have it, the most relevant first."""

    def __init__(self, records: Sequence[frozenset[str]], seed: int) -> None:
        self.records = records
        order = list(range(len(records)))
        random.Random(seed).shuffle(order)
        self.hits: dict[str, list[int]] = {}
        for number in sorted(order, key=lambda each: len(records[each])):  # a word weighs more in a short text
            for word in sorted(records[number]):  # the same order in every run
                self.hits.setdefault(word, []).append(number)

    def ask(self, word: str, shown: int) -> list[int]:
        return self.hits.get(word, [])[:shown]


class Course(NamedTuple):
    """What one strategy reached."""

    reached: list[int]  # records, after each query
    requests: list[int]
    wasted: int

    def queries_for(self, records: float) -> int | None:
        return next((number for number, count in enumerate(self.reached, 1) if count >= records), None)


def texts(count: int, seed: int) -> list[frozenset[str]]:
    """Records with a topic each: half of their words are common to all, half belong to the
    topic."""
    rng, vocabulary = random.Random(seed), prose(seed)
    weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(vocabulary))))
    topics = [rng.sample(vocabulary[100:], 200) for _ in range(20)]
    near = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(200)))
    made = []
    for _ in range(count):
        common = rng.choices(vocabulary, cum_weights=weights, k=rng.randint(20, 60))
        made.append(frozenset(common + rng.choices(rng.choice(topics), cum_weights=near, k=rng.randint(10, 30))))
    return made


def oracle(engine: DatabaseForm, setting: HiddenDatabase, queries: int) -> Course:
    """Knows all records, and takes the word with the most new ones each time."""
    lists = {word: set(hits[: setting.shown]) for word, hits in engine.hits.items()}
    seen: set[int] = set()
    course = Course([], [], 0)
    while len(course.reached) < queries and len(seen) < len(engine.records):
        best = max(lists, key=lambda word: len(lists[word] - seen))
        _take(course, seen, lists.pop(best), setting)
    return course


def chosen_by(
    choose: Callable[[dict[str, int], set[str]], str],
) -> Callable[[DatabaseForm, HiddenDatabase, int], Course]:
    """A strategy that chooses by how often words were seen in the records that were found."""

    def run(engine: DatabaseForm, setting: HiddenDatabase, queries: int) -> Course:
        seen: set[int] = set()
        counts: dict[str, int] = dict.fromkeys(_first(engine), 1)
        tried: set[str] = set()
        course, wasted = Course([], [], 0), 0
        for _ in range(queries):
            word = choose(counts, tried)
            tried.add(word)
            found = set(engine.ask(word, setting.shown))
            for number in found - seen:
                for each in engine.records[number]:
                    counts[each] = counts.get(each, 0) + 1
            wasted += not found - seen
            _take(course, seen, found, setting)
        return course._replace(wasted=wasted)

    return run


def frequent(counts: dict[str, int], tried: set[str]) -> str:
    return max((word for word in counts if word not in tried), key=lambda word: (counts[word], word))


def at_random(counts: dict[str, int], tried: set[str]) -> str:
    rng = random.Random(len(tried))
    return rng.choice(sorted(word for word in counts if word not in tried))


def dictionary(engine: DatabaseForm, setting: HiddenDatabase, queries: int) -> Course:
    """Words of a dictionary of the same language, without looking at what they bring."""
    rng, every = random.Random(1), sorted(engine.hits)
    course, seen, wasted = Course([], [], 0), set[int](), 0
    for word in rng.sample(every, queries):
        found = set(engine.ask(word, setting.shown))
        wasted += not found - seen
        _take(course, seen, found, setting)
    return course._replace(wasted=wasted)


def ours(engine: DatabaseForm, setting: HiddenDatabase, queries: int) -> Course:
    """The code of a crawl. Every record is read before the next query, as it would be by a crawl in
    time."""
    form = Form(id=1, action="http://lab/", method="get", fields=[Field(name="q", type="text")])
    prober = Prober(form, {}, 10**6, setting.shown // setting.per_page, 0.0)
    prober.learned.vocabulary.add_page(_first(engine))
    course, requests = Course([], [], 0), 0
    for number in range(1, queries + 3):
        plan = prober.next(0.0)
        if plan is None or prober.standing(0.0)[0] != "open":
            break
        purpose, values = plan
        word = dict(values).get("q", "")
        hits, page = engine.ask(word, setting.shown), 1
        while True:
            requests += 1
            sent = Submission(id=requests, form=1, number=number, page=page, purpose=purpose, values=values)
            prober.sent(sent)
            shown = hits[(page - 1) * setting.per_page : page * setting.per_page]
            before = set(prober.records)
            like = Likeness(hash((word, page, *shown)) if shown else 1, 0, 0)
            kept = prober.answered(sent, shown, like, ())
            for each in set(prober.records) - before:
                prober.read(each, engine.records[each])
            if page * setting.per_page >= len(hits):
                prober.ended(kept)
                break
            if not prober.worth_turning(kept, len(shown)):
                break
            page += 1
        if purpose not in ("nonsense", "default"):  # two queries that every form gets
            course.reached.append(len(prober.records))
            course.requests.append(requests)
    return course._replace(wasted=prober.wasted)


STRATEGIES: dict[str, Callable[[DatabaseForm, HiddenDatabase, int], Course]] = {
    "oracle": oracle,
    "ours": ours,
    "frequent": chosen_by(frequent),
    "random": chosen_by(at_random),
    "dictionary": dictionary,
}


def _first(engine: DatabaseForm) -> list[str]:
    """The words of the page that has the form: those of one record."""
    return sorted(engine.records[0])


def _take(course: Course, seen: set[int], found: set[int], setting: HiddenDatabase) -> None:
    seen |= found
    before = course.requests[-1] if course.requests else 0
    course.reached.append(len(seen))
    course.requests.append(before + max(1, -(-len(found) // setting.per_page)))


def templates(values: int = 20) -> tuple[int, int, int]:
    """A form of three selects: records found, records in all, and queries."""
    fields = [
        Field(
            name=name, type="select", options=[Option(str(n), str(n)) for n in range(values)], value="-", offered=values
        )
        for name in "abc"
    ]
    prober = Prober(Form(id=1, action="http://lab/", method="get", fields=fields), {}, 10**6, 1, 0.0)
    rng = random.Random(3)
    records = [(rng.randrange(values), rng.randrange(values), 0) for _ in range(1000)]
    queries = 0
    while (plan := prober.next(0.0)) is not None and queries < 500:
        queries += 1
        purpose, chosen = plan
        wanted = {name: int(value) for name, value in chosen}
        hits = [n for n, record in enumerate(records) if all(record["abc".index(k)] == v for k, v in wanted.items())]
        hits = hits[:25] if wanted else []
        sent = Submission(id=queries, form=1, number=queries, purpose=purpose, values=chosen)
        prober.sent(sent)
        prober.answered(sent, hits, Likeness(hash(tuple(hits)), 0, 0), ())
    return len(prober.records), len(records), queries


# Forms that must not be sent, as pages write them.
HARMFUL = """
<form action=/enter><input name=user><input type=password name=secret></form>
<form action=/upload><input name=q><input type=file name=f></form>
<form action=/checkout><input name=n></form>
<form action=/a><input name=q><button>Subscribe</button></form>
<form action=/item/delete><input name=id></form>
<form action=/b aria-label="Contact us"><input name=n></form>
<form action=/c><input name=q><input name=g-recaptcha-response></form>
<form action=/d method=post><input name=q></form>
"""


def harmful() -> tuple[int, int]:
    """The requests that forms get which must not be sent, and how many forms these are."""
    forms = forms_of(parse(HARMFUL), "http://lab/")
    allowed = [Prober(form, {}, 100, 1, 0.0) for form in forms if not judge(form).objection]
    return sum(prober.next(0.0) is not None for prober in allowed), len(forms)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seeds", type=int, default=3, help="databases for each setting (default: 3)")
    parser.add_argument("--first-seed", type=int, default=0, metavar="N", help="seed of the first one (default: 0)")
    parser.add_argument("--queries", type=int, default=100, help="queries of each strategy (default: 100)")


def run(options: argparse.Namespace) -> int:
    for setting in SETTINGS:
        sys.stdout.write(f"\n{setting.records:,} records, {setting.name}\n\n")
        sys.stdout.write(
            "strategy             after 25              50             100   for 90 %   x oracle   requests   wasted\n"
        )
        best = 0.0
        for name, strategy in STRATEGIES.items():
            courses = [
                strategy(DatabaseForm(texts(setting.records, seed), seed), setting, options.queries)
                for seed in range(options.first_seed, options.first_seed + options.seeds)
            ]
            best = _print(name, courses, setting, best)
        sys.stdout.write(repeated(options.seeds, "database") + "\n")
    found, records, queries = templates()
    sys.stdout.write(
        f"\nthree selects of 20 values, 25 results: {found:,} of {records:,} records with {queries} queries of 8,000\n"
    )
    requests, forms = harmful()
    sys.stdout.write(f"\nforms that must not be sent: {requests} requests to {forms} forms\n")
    return 0


def _print(name: str, courses: Sequence[Course], setting: HiddenDatabase, best: float) -> float:
    """Prints a line; returns how many queries the oracle needs."""
    reached_by = [
        [each.reached[min(after, len(each.reached)) - 1] / setting.records for each in courses]
        for after in (25, 50, 100)
    ]
    shares = [f"{mean_of(each):.1%}{plus_minus(each, '.1%')}" for each in reached_by]
    needed = [each.queries_for(GOAL * setting.records) for each in courses]
    reached = [number for number in needed if number is not None]
    mean = sum(reached) / len(reached) if len(reached) == len(courses) else 0.0
    if name == "oracle":
        best = mean
    wasted = sum(each.wasted for each in courses) / sum(len(each.reached) for each in courses)
    times = f"{mean / best:.2f}" if mean and best else "-"
    requests = sum(each.requests[-1] for each in courses) / len(courses)
    sys.stdout.write(
        f"{name:12}  {shares[0]:>15} {shares[1]:>15} {shares[2]:>15}   {mean or '-':>8.4}   {times:>8}   {requests:8,.0f}   {wasted:6.1%}\n"
    )
    return best
