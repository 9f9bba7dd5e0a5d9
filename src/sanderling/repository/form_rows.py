"""What the store keeps about forms: the same tables in both stores."""

from collections.abc import Iterable

import msgspec

from sanderling.model import FormChanges
from sanderling.model.form_facts import FormRecord, Submission
from sanderling.repository.store import ViewStore

SQLITE_FORM = "INSERT INTO forms (id, facts) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET facts = excluded.facts"
SQLITE_LEARNED = "UPDATE forms SET learned = ? WHERE id = ?"
SQLITE_SUBMISSION = "INSERT OR REPLACE INTO submissions (id, form, facts) VALUES (?, ?, ?)"

POSTGRES_FORM = """INSERT INTO forms (id, facts) SELECT * FROM unnest(%b::int8[], %b::bytea[])
    ON CONFLICT (id) DO UPDATE SET facts = excluded.facts"""
POSTGRES_LEARNED = """UPDATE forms SET learned = v.learned
    FROM unnest(%b::bytea[], %b::int8[]) AS v (learned, id) WHERE forms.id = v.id"""
POSTGRES_SUBMISSION = """INSERT INTO submissions (id, form, facts)
    SELECT * FROM unnest(%b::int8[], %b::int8[], %b::bytea[]) ON CONFLICT (id) DO UPDATE SET facts = excluded.facts"""

_encode = msgspec.msgpack.encode


def form_rows(changes: FormChanges) -> list[tuple[int, bytes]]:
    return [*{each.form.id: (each.form.id, _encode(each)) for each in changes.records}.values()]


def learned_rows(changes: FormChanges) -> list[tuple[bytes, int]]:
    return [(learned, id) for id, learned in changes.learned]


def submission_rows(changes: FormChanges) -> list[tuple[int, int, bytes]]:
    return [*{each.id: (each.id, each.form, _encode(each)) for each in changes.submissions}.values()]


def forms(store: ViewStore) -> list[FormRecord]:
    """Every form that a crawl with `--forms` has seen."""
    return [
        msgspec.msgpack.decode(bytes(facts), type=FormRecord) for (facts,) in store.select("SELECT facts FROM forms")
    ]


def forms_after(store: ViewStore, most: int, after: int | None = None) -> list[FormRecord]:
    """Some of them, in no order that means anything but always the same."""
    query = "SELECT facts FROM forms WHERE id > ? ORDER BY id LIMIT ?"
    found = store.select(query, -(1 << 63) if after is None else after, most)
    return [msgspec.msgpack.decode(bytes(facts), type=FormRecord) for (facts,) in found]


def learned(store: ViewStore, form: int) -> bytes:
    found = store.select("SELECT learned FROM forms WHERE id = ?", form)
    return bytes(found[0][0]) if found else b""


def submissions(store: ViewStore) -> Iterable[Submission]:
    """All that was sent, or is under way."""
    for (facts,) in store.select("SELECT facts FROM submissions"):
        yield msgspec.msgpack.decode(bytes(facts), type=Submission)
