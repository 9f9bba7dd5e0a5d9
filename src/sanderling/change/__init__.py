"""Change detection: whether a page changed, in what way, where, and how much.

The client reduces every parsed page to a `PageFingerprint`, a few hundred bytes; on the next visit, `compare` sets the old
beside the new and gives a `Verdict` without reading the old page. With both pages at hand, `explain` says more. What a
page does on every visit is learned by `noise` and marked as no news. Every function here is pure; only `pixels`, which
decodes images, starts a process of its own.
"""

from sanderling.documents.visible import visible_text

from .explain import explain
from .image import look, unlikeness
from .noise import Noise, learn, learn_template
from .page import PROCESSING, PageFingerprint, condense, fingerprint, markup
from .rules import ChangeRules, focus, processing
from .verdict import AspectKind, Degree, TextEdit, Verdict, compare

__all__ = [
    "PROCESSING",
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
