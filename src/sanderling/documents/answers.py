"""The answer to a form, read for where it leads."""

from collections.abc import Set

from sanderling.documents.html import HtmlPage
from sanderling.documents.links import LinkTable
from sanderling.documents.reading import hrefs_of
from sanderling.documents.turners import turners_of
from sanderling.model import Found
from sanderling.model.form_facts import Turner


class Forbidden(Exception):
    """An answer forbids to follow its links."""


def read_answer(page: HtmlPage, names: Set[str], forced: bool) -> tuple[bytes, list[Found], list[Turner]]:
    """The links of an answer, packed and as text, and the pages on which its results go on. With
    `forced`, also those that are not to be followed."""
    head = page.head(names, forced)
    if head.nofollow and not forced:
        raise Forbidden
    hrefs, _ = hrefs_of(page, head, forced)
    links, new = LinkTable().resolve(head.base, hrefs)
    texts = page.anchor_texts([href for href, _ in new])
    found = [Found(each.id, each.url, text) for (_, each), text in zip(new, texts, strict=True)]
    return links, found, turners_of(page.document, head.base)
