"""From sentences to codes: earlier versions stored reasons in words, which could not be reworded
and had to be parsed.

The table is frozen: it says what those versions wrote, whatever the sentences of `model.reasons`
become.
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec

# Runs a statement with ? where values go, in the words that SQLite and PostgreSQL share.
Run = Callable[..., list[tuple[Any, ...]]]

# The first that fits counts. `{}` becomes an argument of the code.
_SENTENCES = {
    "scope: another host": "other-host",
    "scope: another domain": "other-domain",
    "scope: outside the prefix": "outside-prefix",
    "scope: a sitemap of another host": "sitemap-elsewhere",
    "matches an exclude pattern": "exclude",
    "matches no include pattern": "include",
    "would end the session that cookies keep": "ends-session",
    "deeper than max_depth": "too-deep",
    "more than {} redirects": "too-many-redirects",
    "more than {} sitemaps": "sitemap-many",
    "sitemaps nested more than {} deep": "sitemap-nested",
    "disallowed by robots.txt": "robots",
    "skips type {}": "skipped-type",
    "left the collection: others are more important": "left-collection",
    "merged: visited with a parameter that does not count": "merged-visited",
    "merged: parameter {} does not count": "merged-parameters",
    "merged: {} is {}": "merged-host",
    "held: more than {} steps from anything new": "held-far",
    "held: found on a page that repeats another, and there were enough of these": "held-spent",
    "held: the hosts of {} bring nothing new": "held-domain",
    "held: {} has to bring something new first": "held-pattern",
    "answered {}": "status",
    "soft 404: the host answers like this to addresses that do not exist": "soft-404",
    "redirects to nowhere": "redirect-nowhere",
    "redirects to itself": "redirect-self",
    "redirects to {}, which is not on the web": "redirect-invalid",
    "kept unread: {}": "unread",
    "not a sitemap: {}": "not-a-sitemap",
    "set aside: it ended a client process twice": "set-aside",
    "leads to the private address {}": "private-address",
    "timed out: no first byte within {} s": "first-byte",
    "timed out: {}": "timed-out",
    "the host name cannot be resolved": "unresolved",
    "the host cannot be reached": "unreachable",
    "the proxy does not lead to the host: {}": "proxy",
    "the TLS certificate is not valid: {}": "certificate",
    "the connection broke: {}": "connection-broke",
    "the connection was closed without an answer": "no-answer",
    "the body ended early": "body-ended-early",
    "the body is not encoded as it says": "bad-encoding",
    "the headers are too large": "headers-too-large",
    "robots.txt could not be read: {}": "robots-unreadable",
    "robots.txt answered {}": "robots-failed",
    "robots.txt {}: everything is allowed": "robots-missing",
    "robots.txt {}": "robots-read",
}
_FIXED = {sentence: code for sentence, code in _SENTENCES.items() if "{}" not in sentence}
_PATTERNS = [
    (re.compile("(.*)".join(map(re.escape, sentence.split("{}"))), re.DOTALL), code)
    for sentence, code in _SENTENCES.items()
    if "{}" in sentence
]

_AT_ONCE = 200
_BEFORE_ALL = -(1 << 63)


def recoded(sentence: str, unknown: str = "network") -> str:
    """A sentence as a code; one that no version is known to have written becomes the argument of
    `unknown`."""
    if code := _FIXED.get(sentence):
        return code
    for pattern, code in _PATTERNS:
        if found := pattern.fullmatch(sentence):
            argument = " ".join(found.groups())
            return f"{code}:{recoded(argument) if code == 'robots-unreadable' else argument}"
    return f"{unknown}:{sentence}"


def recode(run: Run) -> None:
    """Turns the reasons of all URLs and of what became of robots.txt into codes."""
    run("CREATE TEMPORARY TABLE recoded (said text, failed int, code text NOT NULL, PRIMARY KEY (said, failed))")
    # A reason that is not in the table is what the network said of a page that failed or is
    # retried.
    failed = "CASE WHEN state IN (1, 4) THEN 1 ELSE 0 END"
    found = run(f"SELECT DISTINCT reason, {failed} FROM urls WHERE reason <> ''")
    for start in range(0, len(found), _AT_ONCE):
        rows = [(said, no, recoded(said, "network" if no else "other")) for said, no in found[start : start + _AT_ONCE]]
        run(
            f"INSERT INTO recoded VALUES {', '.join(['(?, ?, ?)'] * len(rows))}",
            *(value for row in rows for value in row),
        )
    run(f"UPDATE urls SET reason = r.code FROM recoded r WHERE r.said = urls.reason AND r.failed = {failed}")
    run("DROP TABLE recoded")
    last = _BEFORE_ALL
    query = "SELECT id, robots FROM hosts WHERE id > ? AND robots IS NOT NULL ORDER BY id LIMIT ?"
    while hosts := run(query, last, _AT_ONCE):
        for last, packed in hosts:
            at, allowed, text, said = msgspec.msgpack.decode(packed)
            robots = msgspec.msgpack.encode((at, allowed, text, recoded(said, "other")))
            run("UPDATE hosts SET robots = ? WHERE id = ?", robots, last)
