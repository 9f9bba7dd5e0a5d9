"""`sanderling forms`: the forms of a crawl, what they are for, what was done with them and why
not."""

import argparse
import contextlib
import sys
from collections.abc import Iterator

import msgspec

from sanderling.cli.folders import add_folder
from sanderling.cli.output import write_json
from sanderling.documents.html import HtmlPage
from sanderling.documents.html_forms import forms_of
from sanderling.errors import Damaged
from sanderling.forms.kinds import judge
from sanderling.forms.listing import ListedForm, kept, listed
from sanderling.model import ChangeKind
from sanderling.model.form_facts import Form
from sanderling.model.reasons import reason
from sanderling.presenting.screen import harmless, many
from sanderling.presenting.versions import when
from sanderling.repository import form_rows as stored
from sanderling.repository import views, warc
from sanderling.repository.archive import document_in
from sanderling.repository.folder import Folder
from sanderling.repository.opening import reading
from sanderling.repository.store import ViewStore

_ABOUT = """Lists the forms on the pages of a crawl: where each leads, its fields, what it is for, and what was sent, or why nothing was.

Forms are sent only if the crawl is told to: `sanderling crawl -d DIR --forms search`. For a crawl without --forms, the
newest version of every page is read from the archive, which takes about a second for a thousand pages.

Examples:
  sanderling forms example
  sanderling forms example --kind search
  sanderling forms example --json
"""
_BATCH = 200


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("forms", description=_ABOUT)
    add_folder(parser)
    parser.add_argument("--kind", choices=("search", "filter", "login", "other"), help="only forms of this kind")
    parser.add_argument("--json", action="store_true", help="print one JSON object per form")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with reading(options.dir) as (folder, store):
        sent = [kept(record) for record in stored.forms(store)]
        forms = sent or _archived(folder, store)
    chosen = [form for form in forms if options.kind in (None, form.kind)]
    for form in chosen:
        if options.json:
            write_json(msgspec.json.encode(form))
        else:
            sys.stdout.write("\n".join(_lines(form)) + "\n")
    if not chosen and not options.json:
        sys.stdout.write("no forms\n")
    return 0


def _archived(folder: Folder, store: ViewStore) -> list[ListedForm]:
    """The forms on the newest version of every page, each once, with the page that shows it
    first."""
    found: dict[int, tuple[Form, str, int]] = {}
    for url, forms in _forms_in(folder, store):
        for form in forms:
            _, first, pages = found.get(form.id, (form, url, 0))
            found[form.id] = (form, first, pages + 1)
    return [_unsent(form, page, pages) for form, page, pages in found.values()]


def _forms_in(folder: Folder, store: ViewStore) -> Iterator[tuple[str, list[Form]]]:
    last = 0
    with contextlib.closing(warc.WarcReader(folder.warcs)) as archive:
        while rows := views.newest_versions(store, last, _BATCH):
            for row in rows:
                if row.kinds & ChangeKind.GONE or "html" not in row.mime:
                    continue
                with contextlib.suppress(Damaged, OSError):
                    archived = archive.read(row.stored)
                    document = document_in(archived)
                    if document is not None:
                        base = HtmlPage(document, None, archived.url).head(frozenset()).base
                        yield row.url, forms_of(document, base)
            last = rows[-1].number


def _unsent(form: Form, page: str, pages: int) -> ListedForm:
    kind, objection = judge(form)
    return listed(form, kind, page, pages, objection or reason("form-unwanted", kind))


def _lines(form: ListedForm) -> list[str]:
    head = f"{form.method} {harmless(form.action)}  {form.kind}"
    if form.label:
        head += f"  {harmless(form.label)!r}"
    where = f" and on {many(form.pages - 1, 'other page')}" if form.pages > 1 else ""
    lines = [head, f"  found on   {harmless(form.page)}{where}"]
    for field in form.fields:
        said = [f"{field['type']:8}", harmless(field["name"] or "(no name)")]
        if field.get("label"):
            said.append(repr(harmless(field["label"])))
        if field.get("offered"):
            said.append(many(field["offered"], "option"))
        if field.get("unseen"):
            said.append("hidden from people: stays empty")
        lines.append(f"  field      {'  '.join(said)}")
    lines += _done(form)
    return lines


def _done(form: ListedForm) -> list[str]:
    lines = []
    if form.submissions:
        sent = f"{many(form.submissions, 'query', 'queries')}, {many(form.requests, 'request')}"
        lines.append(f"  sent       {sent}; {form.wasted:,} brought nothing new")
    if form.estimate:
        lines.append(f"  records    about {form.estimate:,} ({form.least:,} to {form.most:,}), {form.found:,} found")
    elif form.found:
        lines.append(f"  records    {form.found:,} found")
    again = f"; tried again after {when(form.until)}" if form.until else ""
    lines.append(f"  {form.state:10} {harmless(form.reason)}{again}".rstrip())
    return lines
