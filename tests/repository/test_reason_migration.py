"""Sentences that earlier versions stored become codes. Their texts stay the same."""

import pytest

from sanderling.model.reasons import sentence
from sanderling.repository.migrations.reasons import recoded

# Every sentence that the versions up to schema 8 could store, and its code.
WRITTEN = [
    ("scope: another host", "other-host"),
    ("scope: another domain", "other-domain"),
    ("scope: outside the prefix", "outside-prefix"),
    ("scope: a sitemap of another host", "sitemap-elsewhere"),
    ("matches an exclude pattern", "exclude"),
    ("matches no include pattern", "include"),
    ("would end the session that cookies keep", "ends-session"),
    ("deeper than max_depth", "too-deep"),
    ("more than 20 redirects", "too-many-redirects:20"),
    ("more than 500 sitemaps", "sitemap-many:500"),
    ("sitemaps nested more than 3 deep", "sitemap-nested:3"),
    ("disallowed by robots.txt", "robots"),
    ("skips type video/mp4", "skipped-type:video/mp4"),
    ("left the collection: others are more important", "left-collection"),
    ("merged: http://www.e.org is https://e.org", "merged-host:http://www.e.org https://e.org"),
    ("merged: parameter from does not count", "merged-parameters:from"),
    ("merged: parameter a, b does not count", "merged-parameters:a, b"),
    ("merged: visited with a parameter that does not count", "merged-visited"),
    ("held: more than 3.0 steps from anything new", "held-far:3.0"),
    ("held: found on a page that repeats another, and there were enough of these", "held-spent"),
    ("held: /day/0 has to bring something new first", "held-pattern:/day/0"),
    ("held: /is it {a} has to bring something new first", "held-pattern:/is it {a}"),
    ("held: the hosts of e.org bring nothing new", "held-domain:e.org"),
    ("answered 403", "status:403"),
    ("soft 404: the host answers like this to addresses that do not exist", "soft-404"),
    ("redirects to nowhere", "redirect-nowhere"),
    ("redirects to 'file:///etc, passwd', which is not on the web", "redirect-invalid:'file:///etc, passwd'"),
    ("redirects to itself", "redirect-self"),
    ("kept unread: ValueError: a: b\nc", "unread:ValueError: a: b\nc"),
    ("not a sitemap: it is an HTML page", "not-a-sitemap:it is an HTML page"),
    ("set aside: it ended a client process twice", "set-aside"),
    ("leads to the private address ::1", "private-address:::1"),
    ("timed out: no first byte within 1.5 s", "first-byte:1.5"),
    ("timed out: Operation timed out after 9 ms", "timed-out:Operation timed out after 9 ms"),
    ("the host name cannot be resolved", "unresolved"),
    ("the host cannot be reached", "unreachable"),
    ("the proxy does not lead to the host: no route", "proxy:no route"),
    ("the TLS certificate is not valid: expired", "certificate:expired"),
    ("the connection broke: Recv failure: Connection reset", "connection-broke:Recv failure: Connection reset"),
    ("the connection was closed without an answer", "no-answer"),
    ("the body ended early", "body-ended-early"),
    ("the body is not encoded as it says", "bad-encoding"),
    ("the headers are too large", "headers-too-large"),
    ("libcurl error 55", "network:libcurl error 55"),
    ("robots.txt 200", "robots-read:200"),
    ("robots.txt answered 503", "robots-failed:503"),
    ("robots.txt 404: everything is allowed", "robots-missing:404"),
    ("robots.txt could not be read: the host cannot be reached", "robots-unreadable:unreachable"),
    ("robots.txt could not be read: timed out: no first byte within 1 s", "robots-unreadable:first-byte:1"),
    ("robots.txt could not be read: libcurl error 55", "robots-unreadable:network:libcurl error 55"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "code"), WRITTEN)
def test_a_sentence_becomes_a_code(said: str, code: str) -> None:
    assert recoded(said) == code
    assert sentence(code) == said


def test_a_sentence_that_nobody_knows_is_kept() -> None:
    assert recoded("out of order") == "network:out of order"
    assert recoded("out of order", "other") == "other:out of order"
    assert sentence("other:out of order") == "out of order"
