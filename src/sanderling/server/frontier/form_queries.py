"""Sends forms: takes in the forms that clients report, hands out their queries as tasks, and reads
the answers.

A query is a URL of its own kind (`Kind.ANSWER`) with the page of the form as where it came from. It
is committed with the report that led to it, so that no query is sent twice, whenever the server is
killed.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from sanderling import clock
from sanderling.clock import DAY
from sanderling.documents.html_forms import pairs_of, request_of
from sanderling.documents.links import pack
from sanderling.forms.answers import (
    Likeness,
    Split,
    belongs,
    leads_on,
    masked,
    next_by_url,
    next_page,
    pages,
    split,
    without_echo,
)
from sanderling.forms.kinds import SENT, FormKind, judge
from sanderling.forms.probing import LearnedForm, Prober, Values
from sanderling.forms.sameness import dispatched, kind_of_form, pristine
from sanderling.model import FormChanges, HostLease, Kind, NewUrl, Outcome, State, Task, Visit
from sanderling.model.form_facts import Form, FormRecord, Submission
from sanderling.model.reasons import code_of, reason, sentence
from sanderling.repository import form_rows as stored
from sanderling.repository.store import Store
from sanderling.server.frontier.seeds import Seeds
from sanderling.server.ranking.reranker import FRONT
from sanderling.settings import Settings
from sanderling.urls import identity, origin, request_identity

# Forms of one host that are taken up, and answers after which what was learned is kept.
MOST_FORMS, KEEP_EVERY = 50, 10
# Pages that are read between two queries of a form, if there are as many: their words choose the
# next query.
READ_BETWEEN = 10
# Statuses by which a server says that it is asked too often.
LIMITED = (429, 503)


class FormWork(NamedTuple):
    """What a report means for forms."""

    visits: list[Visit]  # as they are to be settled
    urls: list[NewUrl]  # the next queries
    refinements: set[int]  # URLs that are only other views of answers
    changes: FormChanges


class FormQueries:
    """All forms of a crawl."""

    def __init__(self, store: Store, settings: Settings, seeds: Seeds) -> None:
        self._store = store
        self._settings = settings
        self._seeds = seeds
        self._records: dict[int, FormRecord] = {}
        self._same: dict[str, int] = {}  # forms, by what makes them the same
        self._probers: dict[int, Prober] = {}
        self._form_of: dict[int, int] = {}  # of submissions under way
        self._found: dict[int, int] = {}  # the form whose answers led to a page
        self._waits: dict[int, int] = {}  # pages to be read before the next query, by form
        self._numbers: dict[int, int] = {}  # the last query of each form
        self._unkept: dict[int, int] = {}
        self._asked: dict[int, set[str]] = {}  # requests of each form
        self._sources: dict[int, Submission] = {}  # those that brought something, which are repeated
        self._load()

    # ---- how it begins

    def _load(self) -> None:
        now = clock.now()
        for record in stored.forms(self._store):
            self._take_up(record, now)
        for submission in sorted(stored.submissions(self._store), key=lambda each: (each.number, each.page)):
            prober = self._probers.get(submission.form)
            self._numbers[submission.form] = max(self._numbers.get(submission.form, 0), submission.number)
            if prober is None:
                continue
            self._asked.setdefault(submission.form, set()).add(f"{submission.url}\n{submission.body}")
            prober.remember(submission, now)
            if submission.new:
                self._sources[submission.id] = submission
            for id in memoryview(submission.results).cast("q"):
                self._found.setdefault(id, submission.form)
            if not submission.at and self._store.known([submission.id]).get(submission.id, ("", 0))[1] == State.QUEUED:
                prober.under_way[submission.id] = submission
                self._form_of[submission.id] = submission.form

    def _take_up(self, record: FormRecord, now: float) -> FormRecord:
        """Judges a form by the settings as they are, and makes it ready to be sent if it may be."""
        form = record.form
        self._same.setdefault(kind_of_form(form), form.id)
        kind, objection = judge(form, form.action in self._settings.form_post)
        objection = objection or self._objection(form, kind)
        if not objection and sum(self._records[id].host == record.host for id in self._probers) >= MOST_FORMS:
            objection = reason("form-many", MOST_FORMS)
        if objection:
            record = msgspec.structs.replace(record, kind=kind, state="refused", reason=objection)
        else:
            settings = self._settings
            prober = Prober(form, settings.form_values, settings.form_queries, max(1, settings.form_pages), now)
            if packed := stored.learned(self._store, form.id):
                prober.learned = msgspec.msgpack.decode(packed, type=LearnedForm)
            self._probers[form.id] = prober
            if record.state == "refused":
                record = msgspec.structs.replace(record, state="open", reason="")
            record = msgspec.structs.replace(record, kind=kind)
        self._records[form.id] = record
        return record

    def _objection(self, form: Form, kind: FormKind) -> str:
        if why := self._seeds.objection(form.action, origin(form.action)):
            return reason("form-scope", sentence(why))
        named = form.action in self._settings.form_post
        return "" if named or kind in SENT[self._settings.forms] else reason("form-unwanted", kind)

    # ---- what a report says

    def hear(self, visits: list[Visit], tasks: Mapping[int, Task]) -> FormWork:
        """Takes in the forms, the words and the answers of a report, and chooses the next
        queries.
        """
        work = FormWork([], [], set(), FormChanges([], [], []))
        touched: dict[int, None] = {}
        for visit in visits:
            task = tasks[visit.id]
            if task.kind == Kind.ANSWER:
                visit = self._answer(visit, task, work, touched)
            elif task.kind == Kind.PAGE and visit.outcome is Outcome.PAGE:
                self._page(visit, task, touched)
            work.visits.append(visit)
        self._plan(work, touched, idle=False)
        self._keep(work.changes, touched)
        return work

    def _page(self, visit: Visit, task: Task, touched: dict[int, None]) -> None:
        host = identity(origin(task.url))
        # What a record shows beside itself is a form of the site, or one that grew from an answer.
        forms = () if visit.id in self._found else visit.forms
        for form in forms:
            form = pristine(form, task.url)
            record = self._records.get(self._same.setdefault(kind_of_form(form), form.id))
            if record is not None:
                self._records[record.form.id] = msgspec.structs.replace(record, pages=record.pages + 1)
                continue
            self._take_up(FormRecord(form=form, host=host, kind="", page=task.url, depth=task.depth), clock.now())
            touched[form.id] = None
        words = visit.words.split()
        owner = self._found.get(visit.id)
        for id, prober in self._probers.items():
            if visit.id in prober.records:
                prober.read(visit.id, words)
            elif self._records[id].host == host and owner != id:
                prober.learned.vocabulary.add_page(words)
            if self._waits.get(id) and self._records[id].host == host:
                self._waits[id] -= 1

    def _answer(self, visit: Visit, task: Task, work: FormWork, touched: dict[int, None]) -> Visit:
        """Takes in an answer; returns the visit as it is settled: a query that brought nothing is
        not repeated.
        """
        form = self._form_of.pop(visit.id, None)
        prober = self._probers.get(form) if form is not None else None
        if form is None or prober is None or visit.id not in prober.under_way:
            self._repeat(visit, task, work, touched)
            return visit
        may_retry = visit.status not in LIMITED and task.attempts < self._settings.retries
        if visit.outcome is Outcome.RETRY and may_retry:
            self._form_of[visit.id] = form  # the network's fault: it is tried again like a page
            return visit
        touched[form] = None
        submission = prober.under_way[visit.id]
        if visit.outcome is not Outcome.SOURCE:
            return self._failure(visit, prober, submission, work)
        if code_of(visit.reason) == "form-nofollow":
            return self._forbidden(visit, prober, submission, work)
        if visit.found and visit.found[0].kind == Kind.ANSWER:
            if leads_on(visit.found[0].url, prober.form, submission.values):
                return self._follow(visit, task, prober, submission, work)
            visit = msgspec.structs.replace(visit, found=[visit.found[0]._replace(kind=Kind.PAGE)])
        visit = _without_echoes(visit, prober.form, submission)
        links = [found.id for found in visit.found]
        results, refinements = self._split(visit, task, prober, submission)
        like = Likeness(visit.gist, visit.core, visit.simhash)
        elsewhere = {id for id in results if self._found.get(id, form) != form}
        kept = prober.answered(submission, results, like, links, elsewhere)
        if kept.purpose == "nonsense":
            urls = {found.url: masked(found.url, kept.values) for found in visit.found}
            prober.learned.echoes = {echo for echo in urls.values() if "\0" in echo}
        else:
            kept = msgspec.structs.replace(kept, results=pack(results))
            for id in results:
                if prober.records.get(id) == kept.number:
                    self._found.setdefault(id, form)
            if not self._records[form].found and not results:
                prober.learned.vocabulary.add_page(visit.words.split())
        kept = msgspec.structs.replace(kept, at=visit.at or clock.now())
        if kept.new:
            self._sources[kept.id] = kept
        work.changes.submissions.append(kept)
        work.refinements.update(refinements)
        self._count(form, kept)
        self._waits[form] = min(READ_BETWEEN, kept.new)
        self._turn(visit, task, prober, kept, len(results), work)
        if not kept.new:
            return msgspec.structs.replace(visit, outcome=Outcome.EXCLUDED, reason=reason("form-nothing"))
        return visit

    def _split(self, visit: Visit, task: Task, prober: Prober, submission: Submission) -> Split:
        """The results of an answer that are in scope, and other views of it."""
        links = [(found.id, found.url) for found in visit.found]
        turners = {each.url for each in visit.turners if pages(each, submission, prober.form.action)}
        learned = prober.learned
        parts = split(links, task.url, prober.form, submission.values, turners, learned.layout, learned.echoes)
        inside = {found.id for found in visit.found if not self._seeds.objection(found.url, origin(found.url))}
        return parts._replace(results=[id for id in parts.results if id in inside])

    def _repeat(self, visit: Visit, task: Task, work: FormWork, touched: dict[int, None]) -> None:
        """Takes in the answer to a query that is repeated because it brought something."""
        submission = self._sources.get(visit.id)
        prober = self._probers.get(submission.form) if submission is not None else None
        if submission is None or prober is None or visit.outcome is not Outcome.SOURCE:
            return
        visit = _without_echoes(visit, prober.form, submission)
        results, refinements = self._split(visit, task, prober, submission)
        work.refinements.update(refinements)
        if new := prober.repeated(submission, results):
            self._found.update((id, submission.form) for id in new if id not in self._found)
            packed = submission.results + pack(new)
            submission = msgspec.structs.replace(submission, results=packed, new=submission.new + len(new))
            self._sources[submission.id] = submission
            work.changes.submissions.append(submission)
            touched[submission.form] = None

    def _failure(self, visit: Visit, prober: Prober, submission: Submission, work: FormWork) -> Visit:
        prober.failed(submission)
        form, now = submission.form, clock.now()
        work.changes.submissions.append(msgspec.structs.replace(submission, at=now))
        self._count(form, submission)
        if code_of(visit.reason) == "robots":
            self._stop(form, "closed", reason("form-robots"), now + prober.probe_after)
        elif visit.status in LIMITED:
            self._stop(form, "paused", reason("form-limited", visit.status), (now // DAY + 1) * DAY)
        return msgspec.structs.replace(visit, outcome=Outcome.FAILED, status=0, retry_after=0.0)

    def _forbidden(self, visit: Visit, prober: Prober, submission: Submission, work: FormWork) -> Visit:
        """Its answers may not be followed, so no other query is sent."""
        prober.failed(submission)
        now = clock.now()
        work.changes.submissions.append(msgspec.structs.replace(submission, at=now))
        self._count(submission.form, submission)
        self._stop(submission.form, "closed", visit.reason, now + prober.probe_after)
        return msgspec.structs.replace(visit, outcome=Outcome.EXCLUDED)

    def _follow(self, visit: Visit, task: Task, prober: Prober, submission: Submission, work: FormWork) -> Visit:
        """Asks for the answer where a redirect says that it is. It is the same query."""
        target = msgspec.structs.replace(submission, id=0, url=visit.found[0].url, body="")
        record = self._records[submission.form]
        self._records[submission.form] = msgspec.structs.replace(record, requests=record.requests + 1)
        work.changes.submissions.append(msgspec.structs.replace(submission, at=clock.now()))
        if not self._send(prober, target, work, task.id, submission):
            prober.failed(submission)
            if why := self._seeds.objection(target.url, origin(target.url)):
                prober.learned.fault = reason("form-answers-scope", sentence(why))
        why = reason("form-redirect")
        return msgspec.structs.replace(visit, outcome=Outcome.EXCLUDED, reason=why, found=[], links=b"")

    def _stop(self, form: int, state: str, why: str, until: float) -> None:
        self._records[form] = msgspec.structs.replace(self._records[form], state=state, reason=why, until=until)

    def _count(self, form: int, submission: Submission) -> None:
        record = self._records[form]
        self._records[form] = msgspec.structs.replace(
            record, requests=record.requests + 1, queries=record.queries + submission.is_query
        )

    # ---- what is asked next

    def _turn(
        self, visit: Visit, task: Task, prober: Prober, submission: Submission, results: int, work: FormWork
    ) -> None:
        """Asks for the next page of an answer, if it is worth it."""
        asked = self._asked.setdefault(submission.form, set())
        turner = next_page(visit.turners, submission.page, asked)
        if turner is None or not belongs(turner, submission, prober.form.action):
            turner = next_by_url([found.url for found in visit.found], task.url, asked)
        if turner is None or not belongs(turner, submission, prober.form.action):
            prober.ended(submission)
            return
        if prober.worth_turning(submission, results):
            following = Submission(
                id=0, form=submission.form, number=submission.number, page=submission.page + 1,
                purpose=submission.purpose, values=submission.values, url=turner.url, body=turner.body,
            )  # fmt: skip
            self._send(prober, following, work, task.id)

    def _plan(self, work: FormWork, forms: Iterable[int], idle: bool) -> None:
        """Chooses a query for every form whose last one was answered."""
        now = clock.now()
        for id, prober in self._probers.items():
            record = self._records[id]
            if prober.under_way or record.until > now or (self._waits.get(id) and not idle):
                continue
            if record.state == "closed":  # its time has come again
                prober.reopen()
            if self._nonsense_under_way(prober):
                continue
            state, why = prober.standing(now)
            if state != record.state or why != record.reason:
                until = (
                    now + prober.probe_after
                    if state == "closed"
                    else (now // DAY + 1) * DAY
                    if state == "paused"
                    else 0.0
                )
                self._stop(id, state, why, until)
                work.changes.records.append(self._records[id])
            while state == "open" and (chosen := prober.next(now)) is not None:
                purpose, values = chosen
                if self._query(prober, record, purpose, values, work):
                    break

    def _nonsense_under_way(self, prober: Prober) -> bool:
        """Whether another form with the same action is asked for nonsense now. A form learns from
        what others were answered."""
        for other in self._probers.values():
            if other is not prober and dispatched(other.form) == dispatched(prober.form):
                prober.learn_nothing_from(other)
                if prober.learned.nothing is None and any(
                    each.purpose == "nonsense" for each in other.under_way.values()
                ):
                    return True
        return False

    def _query(self, prober: Prober, record: FormRecord, purpose: str, values: Values, work: FormWork) -> bool:
        """Sends one query; False when its URL is known already, so that it says nothing about the
        form.
        """
        form = record.form
        request = request_of(form, pairs_of(form, dict(values)))
        self._numbers[form.id] = self._numbers.get(form.id, 0) + 1
        submission = Submission(
            id=0, form=form.id, number=self._numbers[form.id], purpose=purpose, values=values,
            url=request[0] if request else "", body=request[1] if request else "",
        )  # fmt: skip
        return self._send(prober, submission, work, identity(record.page))

    def _send(
        self, prober: Prober, submission: Submission, work: FormWork, via: int, redirected: Submission | None = None
    ) -> bool:
        url, body = submission.url, submission.body
        id = request_identity(url, "POST" if body else "GET", body.encode())
        submission = msgspec.structs.replace(submission, id=id)
        self._asked.setdefault(submission.form, set()).add(f"{url}\n{body}")
        objection = not url or self._seeds.objection(url, origin(url)) or not self._store.unknown({id: url})
        if objection or id in {row.id for row in work.urls}:
            prober.skipped(submission)
            return False
        if redirected is None:
            prober.sent(submission)
        else:
            prober.moved(redirected, submission)
        self._form_of[id] = submission.form
        depth = self._records[submission.form].depth + 1
        host = identity(origin(url))
        work.urls.append(NewUrl(id, url, host, depth, State.QUEUED, FRONT, via, 0, "", "", Kind.ANSWER))
        work.changes.submissions.append(submission)
        return True

    # ---- for the frontier

    def idle(self) -> FormWork:
        """Nothing else is left to visit: the next queries, whatever is unread."""
        work = FormWork([], [], set(), FormChanges([], [], []))
        self._plan(work, (), idle=True)
        return work

    def leads_to(self, id: int) -> bool:
        """Whether an answer led to a URL."""
        return id in self._found

    def keep(self, changes: FormChanges) -> None:
        """Writes what no report brings with it."""
        if changes.records or changes.submissions or changes.learned:
            self._store.put_forms(changes)

    def with_bodies(self, leases: list[HostLease]) -> list[HostLease]:
        """Leases with the bodies of POST forms."""
        if not self._settings.form_post:
            return leases
        return [msgspec.structs.replace(lease, tasks=[*map(self._with_body, lease.tasks)]) for lease in leases]

    def _with_body(self, task: Task) -> Task:
        form = self._form_of.get(task.id)
        return task._replace(body=self._probers[form].under_way[task.id].body) if form is not None else task

    def last_words(self) -> FormChanges:
        """All that is to be kept at the end of a run."""
        changes = FormChanges([], [], [])
        for id in self._records:
            self._keep_one(id, changes, whole=True)
        return changes

    def _keep(self, changes: FormChanges, touched: Iterable[int]) -> None:
        for id in touched:
            self._unkept[id] = self._unkept.get(id, 0) + 1
            self._keep_one(id, changes, whole=self._unkept[id] >= KEEP_EVERY)

    def _keep_one(self, id: int, changes: FormChanges, whole: bool) -> None:
        record, prober = self._records[id], self._probers.get(id)
        if prober is not None:
            size = prober.size()
            estimate, least, most = size if size is not None else (0, 0, 0)
            record = msgspec.structs.replace(
                record, found=len(prober.records), estimate=estimate, least=least, most=most, wasted=prober.wasted
            )
            if whole:
                changes.learned.append((id, msgspec.msgpack.encode(prober.learned)))
                self._unkept[id] = 0
        self._records[id] = record
        changes.records.append(record)


def _without_echoes(visit: Visit, form: Form, submission: Submission) -> Visit:
    """An answer whose records have their own URLs, whatever was asked for."""
    urls = {found.url: without_echo(found.url, form, submission.values) for found in visit.found}
    if all(url == own for url, own in urls.items()):
        return visit
    found = {own: each._replace(id=identity(own), url=own) for each in visit.found if (own := urls[each.url])}
    return msgspec.structs.replace(visit, found=[*found.values()], links=pack([each.id for each in found.values()]))
