"""One form: which query comes next, and what its answers teach. It knows nothing of stores, hosts
or requests.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from sanderling.clock import DAY
from sanderling.forms.answers import Likeness
from sanderling.forms.kinds import changes_results, choices, takes_words, words_in
from sanderling.forms.size import Capture, Size, least_unseen, size_of
from sanderling.forms.templates import Templates
from sanderling.forms.typed import typed_values
from sanderling.forms.words import Choice, Vocabulary
from sanderling.model.form_facts import Field, Form, Submission
from sanderling.model.reasons import reason

# A word that no site has; the answer to it says what the form says when it finds nothing.
NONSENSE = "qxzvkjwpfhgt"
# A form is closed after this many queries in a row without anything new; sooner if nearly all seems
# to be found, or if all was listed without a query, or if other forms have found half of it before,
# or if nothing was found ever.
DULL, DULL_FOUND, DULL_LISTED, DULL_KNOWN, DULL_EMPTY = 6, 4, 2, 2, 8
# And when complete answers in a row have shown this many records, and one for every SURE_SHARE that
# were found, of which not one was new: with 30, more than a tenth is missing in one case of 20.
DULL_SURE, SURE, SURE_SHARE = 3, 30, 20
# And after one such query if the best word is expected to bring fewer new records than this, and as
# many records as above were shown again.
WORTH_ASKING = 1.0
NEARLY_ALL = 0.98
# And as soon as its first answers are all errors.
BROKEN = 3
# A closed form is tried again after this many days, then after twice as many, with a few queries.
FIRST_PROBE, DULL_PROBE = 7.0, 2
# Words in a field that are all answered the same, before another field is filled in.
DEAF = 3
# Links that are in each of this many different answers belong to the layout.
LAYOUT = 4
# Words for a site that says next to nothing beside its form. Every other query tries one until
# something is found.
COMMON = ("the", "and", "der", "les", "los", "di", "new", "all", "one", "data")
# A pager is turned while at least this share of the page is new, or of the pages behind the first
# of late. Some sites list what is best known first, so that only later pages bring anything new.
WORTH_TURNING, LATE = 0.3, 0.9
# Of this many queries, this many may bring nothing new.
WINDOW, MOST_WASTED = 12, 10
PER_PAGE = 10

Values = list[tuple[str, str]]


class LearnedForm(msgspec.Struct):
    """What is kept of a form between two runs, beside its submissions."""

    vocabulary: Vocabulary
    templates: Templates
    nothing: tuple[int, int, int] | None = None  # likeness of the answer to nonsense
    layout: set[int] = set()
    echoes: set[str] = set()  # links of the answer to nonsense, without the word
    day: int = 0
    today: int = 0  # queries of that day
    probes: int = 0
    run: int = 0  # queries without anything new, in a row
    again: int = 0  # records that complete answers of these have shown
    errors: int = 0
    fault: str = ""  # why answers cannot be read, if it is known, as a reason
    answers: int = 0
    # A full page of a word brought nothing new: the site lists the same records first for any word.
    cut_in_vain: bool = False
    listed: bool = False  # the answer without any words was read to its end
    per_page: int = 0
    behind: tuple[float, float] = (1.0, 1.0)  # new ones, and all results, on pages behind the first of late
    recent: list[bool] = []  # whether the last queries brought something
    captures: dict[int, tuple[int, int, int, bool]] = {}  # by query


class Prober:
    """Chooses queries for a form, within its budget."""

    def __init__(self, form: Form, own: Mapping[str, Sequence[str]], budget: int, pages: int, now: float) -> None:
        """`own` are the user's values by the name or label of a field, and `budget` is for a
        day.
        """
        self.form = form
        self._budget, self._pages = budget, pages
        given = {field.name: _own(field, own) for field in form.fields if not field.unseen}
        self._given = [[(name, value)] for name, values in given.items() for value in values]
        special = {field.name: typed_values(field, now) for field in form.fields if not given.get(field.name)}
        texts = [field for field in form.fields if takes_words(field) and not special.get(field.name)]
        # A field for searches comes first: others may only narrow down what it finds.
        self._words = [field.name for field in sorted(texts, key=lambda field: field.type != "search")]
        self._said: dict[str, set[int]] = {}  # what words in a field were answered, and how many were tried
        self._words_in: Counter[str] = Counter()
        changing = [field for field in form.fields if not field.unseen and changes_results(field)]
        fixed = {field.name: choices(field) or special.get(field.name, []) for field in changing}
        values = {name: each for name, each in fixed.items() if each and not given.get(name)}
        self.learned = LearnedForm(Vocabulary(), Templates(values))
        self.tried: dict[tuple[tuple[str, str], ...], int] = {}
        self.records: dict[int, int] = {}  # the query that found each
        self._found_by: Counter[int] = Counter()  # records, by query
        self._hits: dict[int, int] = {}  # queries that have found each record
        self._found_times: Counter[int] = Counter()  # records, by that
        self._answered_in: Counter[str] = Counter()  # results, by the field that was filled in
        self._chosen: tuple[tuple[int, int, int], Choice] | None = None
        self._often: Counter[int] = Counter()
        self._signatures: set[int] = set()
        self.under_way: dict[int, Submission] = {}

    # ---- what to send

    def next(self, now: float) -> tuple[str, Values] | None:
        """Purpose and values of the next query; None if there is none today. See `standing` for
        why.
        """
        if self.spent(now) or self.under_way:
            return None
        for purpose, values in self._plans():
            if _key(values) not in self.tried:
                return purpose, values
        return None

    def learn_nothing_from(self, other: "Prober") -> None:
        """Another form with the same action was asked for nonsense. Its answer need not be asked
        for again."""
        if self.learned.nothing is None and other.learned.nothing is not None:
            self.learned.nothing = other.learned.nothing
            self.learned.layout |= other.learned.layout
            self.learned.echoes |= other.learned.echoes

    def spent(self, now: float) -> bool:
        day = int(now // DAY)
        if day != self.learned.day:
            self.learned.day, self.learned.today = day, 0
        return self.learned.today >= self._budget

    def _plans(self) -> Iterable[tuple[str, Values]]:
        if self._words and self.learned.nothing is None:
            yield "nonsense", [(self._words[0], NONSENSE)]
        yield "default", []
        for values in self._given:
            yield "given", values
        template = self.learned.templates.next(self.tried)
        word = self._word() if self._words else []
        judging = template is not None and len(self.tried) % 3 == 0
        if template is not None and (judging or not word):
            yield "choice", template
        if word:
            yield "word", word
        if template is not None:
            yield "choice", template

    def _word(self) -> Values:
        """Text fields are tried one after the other; if none of them answers alone, all with the
        same word.
        """
        used = {value for key in self.tried for _, value in key}
        together = len(self._words) > 1 and not self.records and self.learned.run > 2 * len(self._words)
        word = self._best_word().word
        if not self.records:
            left = [each for each in COMMON if each not in used]
            said = [each for each in left if each in self.learned.vocabulary.other]  # the language of the site
            if len(self.tried) % 2 == (not said):
                word = next(iter(said or left), word)
        if not word:
            around = words_in(f"{self.form.label} {' '.join(field.label for field in self.form.fields)}")
            word = next((each for each in (*around, *COMMON) if len(each) > 2 and each not in used), "")
        if not word:
            return []
        if together:
            return [(name, word) for name in self._words]
        return [(self._best_field(), word)]

    def _best_word(self) -> Choice:
        """The word with the most expected new records for its cost."""
        vocabulary, per_page = self.learned.vocabulary, self.learned.per_page or PER_PAGE
        state = len(self.tried), len(self.records), vocabulary.records
        if self._chosen is None or self._chosen[0] != state:
            used = {value for key in self.tried for _, value in key}
            size, found = self.size(), len(self.records)
            unseen = float(size.estimate) - found + 0.5 if size is not None else 2.0 * found + 100
            self._chosen = (
                state,
                vocabulary.best(used, unseen, self._pages * per_page, per_page, self.learned.cut_in_vain),
            )
        return self._chosen[1]

    def _best_field(self) -> str:
        """The text field whose words have brought most, or were answered at all; each in turn until
        one is."""
        brought = Counter[str]()
        for key, new in self.tried.items():
            for name, _ in key:
                brought[name] += new
        heard = [name for name in self._words if not self._deaf(name)] or self._words
        best = max(heard, key=lambda name: (brought[name], self._answered_in[name]))
        return best if self._answered_in[best] else heard[len(self.tried) % len(heard)]

    def _deaf(self, name: str) -> bool:
        """Whether a field is answered the same whatever the word is."""
        return self._words_in[name] >= DEAF and len(self._said[name]) == 1

    # ---- what comes back

    def sent(self, submission: Submission) -> None:
        """Takes note of a submission that is under way."""
        self.under_way[submission.id] = submission
        if submission.is_query:
            self.tried[_key(submission.values)] = 0
            self.learned.today += 1

    def skipped(self, submission: Submission) -> None:
        """A submission is not sent: its URL is known already, or out of scope."""
        if submission.is_query:
            self.tried[_key(submission.values)] = 0

    def remember(self, submission: Submission, now: float) -> None:
        """Takes up a submission of an earlier run."""
        if submission.is_query:
            self.tried.setdefault(_key(submission.values), 0)
        self.tried[_key(submission.values)] = self.tried.get(_key(submission.values), 0) + submission.new
        results = memoryview(submission.results).cast("q")
        self._find(submission, [id for id in results if id not in self.learned.layout])

    def _find(self, submission: Submission, results: Sequence[int]) -> list[int]:
        """Takes in the results of an answer; returns those that no earlier answer had."""
        new = [id for id in results if id not in self.records]
        for id in results:
            if self.records.setdefault(id, submission.number) != submission.number or id not in self._hits:
                self._hit(id)
        self._found_by[submission.number] += len(new)
        for name, _ in submission.values:
            self._answered_in[name] += len(results)
        return new

    def repeated(self, submission: Submission, results: Iterable[int]) -> list[int]:
        """Takes in the answer to a query that was sent once more; returns the new records. Those
        that it showed before are not counted again."""
        new = [id for id in results if id not in self.records and id not in self.learned.layout]
        return self._find(submission, new)

    def _hit(self, id: int) -> None:
        before = self._hits.get(id, 0)
        self._hits[id] = before + 1
        self._found_times[before] -= before > 0
        self._found_times[before + 1] += 1
        if before == 1:
            self.learned.vocabulary.found_again(id)

    def read(self, id: int, words: Iterable[str]) -> None:
        """A record was read."""
        self.learned.vocabulary.add_record(id, words, self.records[id] if self._hits[id] == 1 else 0)

    def answered(
        self, submission: Submission, results: list[int], like: Likeness, links: Iterable[int],
        elsewhere: Collection[int] = (),
    ) -> Submission:  # fmt: skip
        """Takes in an answer; returns the submission as it is kept. What other forms have found
        (`elsewhere`) is not new."""
        learned = self.learned
        known = len(self.records) - self._found_by[submission.number]
        self.under_way.pop(submission.id, None)
        learned.answers += 1
        if submission.purpose == "nonsense":
            learned.nothing = (like.gist, like.core, like.simhash)
            learned.layout.update(results)
            return msgspec.structs.replace(submission, results=b"", new=0)
        empty = not results and learned.nothing is not None and like.is_like(Likeness(*learned.nothing))
        signature = 0 if empty else hash(frozenset(results)) if results else like.gist
        self._know_layout(links, signature)
        results = [id for id in results if id not in learned.layout]
        new = self._find(submission, results)
        if results:
            learned.per_page = max(learned.per_page, len(results))
            shown, again, _, _ = learned.captures.get(submission.number, (0, 0, 0, False))
            complete = len(results) < learned.per_page  # the last page is not full
            learned.captures[submission.number] = (
                shown + len(results), again + len(results) - len(new), known, complete,
            )  # fmt: skip
        fresh = sum(id not in elsewhere for id in new)
        if submission.purpose == "word" and submission.page == 1 and not new and len(results) >= learned.per_page > 0:
            learned.cut_in_vain = True
        if submission.purpose == "word" and submission.is_query and len(submission.values) == 1:
            name = submission.values[0][0]
            self._words_in[name] += 1
            self._said.setdefault(name, set()).add(signature)
        self._judge(submission, signature, len(results), fresh)
        return msgspec.structs.replace(submission, new=fresh, signature=signature)

    def _judge(self, submission: Submission, signature: int, results: int, new: int) -> None:
        learned = self.learned
        key = _key(submission.values)
        self.tried[key] = self.tried.get(key, 0) + new
        # Templates have a patience of their own.
        counts = submission.purpose not in ("default", "choice")
        if submission.is_query and counts:
            learned.run = 0 if new else learned.run + 1
        elif new:
            learned.run = 0
        learned.again = learned.again if learned.run else 0
        learned.probes = 0 if new else learned.probes
        if not submission.is_query:
            found, shown = learned.behind
            learned.behind = (LATE * found + new, LATE * shown + results)
            new_in_all = self.tried[key]
            if new and new == new_in_all and learned.recent:
                learned.recent[-1] = True  # the first pages of this query had nothing
                learned.run = 0
        elif counts:
            learned.recent = [*learned.recent, new > 0][-WINDOW:]
        if submission.is_query and submission.purpose == "choice":
            learned.templates.answered(submission.values, signature, new)

    def _know_layout(self, links: Iterable[int], signature: int) -> None:
        """Learns which links are in every answer."""
        if signature in self._signatures or len(self._signatures) >= LAYOUT:
            return
        self._signatures.add(signature)
        self._often.update(set(links))
        if len(self._signatures) == LAYOUT:
            everywhere = {id for id, count in self._often.items() if count == LAYOUT}
            self.learned.layout |= everywhere
            for id in everywhere & self.records.keys():
                del self.records[id]
                self._found_times[self._hits.pop(id)] -= 1

    def moved(self, submission: Submission, target: Submission) -> None:
        """The answer to a submission is at another URL."""
        self.under_way.pop(submission.id, None)
        self.under_way[target.id] = target

    def failed(self, submission: Submission) -> None:
        """A submission brought no answer, or an error."""
        self.under_way.pop(submission.id, None)
        self.learned.errors += 1
        self.learned.run += submission.is_query

    def ended(self, submission: Submission) -> None:
        """The pages of a query's results were read to the end. One page alone may be the best of
        many.
        """
        learned = self.learned
        if submission.purpose == "default" and submission.page > 1:
            learned.listed = True
        shown, again, known, complete = learned.captures.get(submission.number, (0, 0, 0, False))
        # Many engines show a limited number of results of any query; then their pagers end there.
        complete = complete or shown < max((each[0] for each in learned.captures.values()), default=0)
        if shown:
            learned.captures[submission.number] = shown, again, known, complete
        if complete and shown == again and learned.run:
            learned.again += shown

    def worth_turning(self, submission: Submission, results: int) -> bool:
        """Whether the next page of an answer is worth a request."""
        if submission.page >= self._pages or not results:
            return False
        new, shown = self.learned.behind
        share = self._worth()
        return submission.new >= share * results or new >= share * shown

    def _worth(self) -> float:
        """The share of new results that makes a page worth turning to: lower the fewer records are
        left to be found.
        """
        size = self.size()
        left = 1.0 - len(self.records) / size.estimate if size is not None and size.estimate else 1.0
        return max(0.01, min(WORTH_TURNING, left / 4))

    # ---- how it stands

    def standing(self, now: float) -> tuple[str, str]:
        """The state of the form and the reason."""
        learned = self.learned
        if learned.errors >= BROKEN and not learned.answers:
            return "closed", learned.fault or reason("form-broken")
        if learned.run >= self._patience():
            return "closed", reason("form-dull", learned.run) if learned.run > 1 else reason("form-found")
        if learned.run and self._nothing_expected():
            return "closed", reason("form-found")
        if len(learned.recent) == WINDOW and learned.recent.count(False) >= MOST_WASTED:
            return "closed", reason("form-little", learned.recent.count(False), WINDOW)
        if self.spent(now):
            return "paused", reason("form-budget", self._budget)
        if not self.under_way and self.next(now) is None:
            return "complete", reason("form-done")
        return "open", ""

    def _patience(self) -> int:
        """How many queries in a row may bring nothing new."""
        return min(DULL_PROBE, self._usual_patience()) if self.learned.probes else self._usual_patience()

    def _usual_patience(self) -> int:
        if self.learned.listed:
            return 1 if self.learned.again else DULL_LISTED
        if not self.records:
            return DULL_EMPTY
        if 2 * sum(self.tried.values()) <= len(self.records):
            return DULL_KNOWN
        if self.learned.again >= self._enough():
            return DULL_SURE
        size = self.size()
        return DULL_FOUND if size is not None and len(self.records) >= NEARLY_ALL * size.estimate else DULL

    def _enough(self) -> int:
        """How many records have to be shown again to say something about all."""
        return SURE + len(self.records) // SURE_SHARE

    def _nothing_expected(self) -> bool:
        """Whether no word is expected to bring anything new, by enough that was shown again."""
        again = sum(again for _, again, _, _ in self.learned.captures.values())
        return bool(self._words) and again >= self._enough() and self._best_word().new < WORTH_ASKING

    def reopen(self) -> None:
        """A closed form gets another try: a few queries, and as many as ever if they bring
        something."""
        self.learned.probes += 1
        self.learned.run = 0
        self.learned.again = 0
        self.learned.recent = []
        self.learned.errors = 0

    @property
    def probe_after(self) -> float:
        """Seconds until a closed form is tried again."""
        return float(FIRST_PROBE * 2**self.learned.probes * DAY)

    @property
    def wasted(self) -> int:
        """Queries that brought nothing new, beside those with nonsense and with nothing, by which a
        form is probed.
        """
        answered = (new for key, new in self.tried.items() if key and not any(value == NONSENSE for _, value in key))
        return sum(not new for new in answered)

    def size(self) -> Size | None:
        """About how many records there are."""
        if self.learned.listed:
            return Size(len(self.records), len(self.records), len(self.records))
        unseen = least_unseen(self._found_times[1], self._found_times[2])
        return size_of((Capture(*each) for each in self.learned.captures.values()), len(self.records), unseen)


def _key(values: Values) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value) for name, value in values))


def _own(field: Field, own: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The user's values for a field, by its name or its label."""
    for name in (field.name, field.label):
        for key, values in own.items():
            if name and key.lower() == name.lower():
                return values
    return ()
