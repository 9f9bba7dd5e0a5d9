"""Reads what is no page but leads to pages: sitemaps and the answers of forms. Neither has a status
or is counted."""

from sanderling.client.arrival import REDIRECTS, Arrival, ParsedVisit, is_success
from sanderling.client.contents import ContentReader, Read, unread
from sanderling.documents import sitemaps
from sanderling.documents.formats import kind_of
from sanderling.documents.html import HtmlPage
from sanderling.documents.links import pack
from sanderling.documents.unreadable import UNREADABLE
from sanderling.model import Found, Kind, Outcome, Visit
from sanderling.model.reasons import reason
from sanderling.urls import identity, redirected


def read_sitemap(arrival: Arrival, contents: ContentReader) -> ParsedVisit:
    task, response = arrival.fetch.task, arrival.fetch.response
    found: list[Found] = []
    words, why, outcome = None, "", Outcome.SOURCE
    if response.status in REDIRECTS:
        target = redirected(task.url, response.location())
        if target and target != task.url:
            found = [Found(identity(target), target, "", Kind.SOURCE)]
    elif is_success(response.status):
        try:
            found = _listed(arrival, contents)
        except sitemaps.NotASitemap as error:
            # Keep the text: the host may answer the same for pages that do not exist.
            words = contents.read(task.url, arrival.body, "text/html", None, (True, True), False).words
            outcome, why = Outcome.GONE, reason("not-a-sitemap", error)
    else:
        outcome, why = Outcome.GONE, reason("status", response.status)
    visit = Visit(
        id=task.id, outcome=outcome, at=response.since, size=response.size, reason=why, found=found,
        truncated=response.truncated,
    )  # fmt: skip
    return ParsedVisit(visit, task.url, words)


def _listed(arrival: Arrival, contents: ContentReader) -> list[Found]:
    found = []
    for url, kind, modified in sitemaps.read(arrival.body, arrival.charset, arrival.fetch.task.url):
        contents.links.meet(url)
        found.append(Found(identity(url), url, "", kind, modified))
    return found if contents.judge is None else contents.judge.links(found)


def read_form_answer(arrival: Arrival, contents: ContentReader) -> ParsedVisit:
    """Reads all that an answer leads to, with the pages on which its results go on.

    The links of an answer are reported whole, because what it brings is told from them.
    """
    task, response = arrival.fetch.task, arrival.fetch.response
    outcome, read = Outcome.SOURCE, Read()
    if is_success(response.status):
        read = _results(arrival, contents)
    elif response.status in REDIRECTS:
        target = redirected(task.url, response.location())
        if target is not None and target != task.url:
            # Whether it is the answer or a record is told by the server, which knows the query.
            id = identity(target)
            read = Read(links=pack([id]), found=[Found(id, target, "", Kind.ANSWER)])
    else:
        outcome, read = Outcome.FAILED, Read(reason=reason("status", response.status))
    visit = Visit(
        id=task.id, outcome=outcome, at=response.since, size=response.size, reason=read.reason, links=read.links,
        found=list(read.found), truncated=response.truncated, turners=list(read.turners),
        words=contents.vocabulary(read.words),
    )  # fmt: skip
    return ParsedVisit(visit, task.url, read.words)


def _results(arrival: Arrival, contents: ContentReader) -> Read:
    from sanderling.documents.answers import Forbidden, read_answer  # only crawls with --forms need it

    if kind_of(arrival.body, arrival.mime, arrival.charset) != "html":
        return Read()
    try:
        page = HtmlPage(arrival.body, arrival.charset, arrival.fetch.task.url)
        links, found, turners = read_answer(page, contents.names, contents.follow_nofollow)
        return Read(words=page.text(), links=links, found=found, turners=turners)
    except Forbidden:
        return Read(words=page.text(), reason=reason("form-nofollow"))
    except UNREADABLE as error:
        return unread(error)
