"""Detects whether a page changed, how, where and how much.

When a page is visited again, the client reduces it to a `PageFingerprint` of a few hundred bytes;
that of the first version is made from the archive when a second one differs. `compare` compares the
old and the new fingerprint and returns a `Verdict`, without the old page. `explain` uses both pages
and finds more. `noise` learns what changes on every visit; such changes are not news. All functions
are pure, except that `pixels` decodes images in a process of its own.
"""

from sanderling.documents.visible import visible_text

from .explain import explain
from .image import look, unlikeness
from .noise import Noise, learn, learn_template
from .page import PageFingerprint, condense, fingerprint, markup
from .rules import ChangeRules, focus, processing
from .verdict import AspectKind, Degree, TextEdit, Verdict, compare

__all__ = [
    "AspectKind",
    "ChangeRules",
    "Degree",
    "Noise",
    "PageFingerprint",
    "TextEdit",
    "Verdict",
    "compare",
    "condense",
    "explain",
    "fingerprint",
    "focus",
    "learn",
    "learn_template",
    "look",
    "markup",
    "processing",
    "unlikeness",
    "visible_text",
]
