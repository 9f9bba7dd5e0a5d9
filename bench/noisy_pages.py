"""A course of noisy pages: eleven pages that differ at every visit and mean nothing by it, and are
really edited three times.

Every page is a function of the visit and of how often it was edited.
"""

from __future__ import annotations

import random
from collections.abc import Callable

VISITS = 12
# Visits, counted from 0, at which every page has been edited.
EDITS = (3, 7, 10)

_BIRDS = ("lark", "wren", "crow", "swan", "duck", "gull", "knot", "ruff")
_QUOTES = [f"The {one} sings, and the {other} flies away over the sea" for one in _BIRDS for other in _BIRDS[:4]]

Noise = Callable[[random.Random, int], str]


def _timestamp(_: random.Random, visit: int) -> str:
    return f"<footer><p>Page generated on 2026-03-{visit + 1:02} at {8 + visit:02}:{7 * visit % 60:02}:11</p></footer>"


def _counter(chance: random.Random, visit: int) -> str:
    return f"<p>Visitors so far: {10_000 + 97 * visit + chance.randrange(90):,}</p>"


def _quote(chance: random.Random, _: int) -> str:
    return f"<blockquote>{chance.choice(_QUOTES)}</blockquote>"


def _advertisement(chance: random.Random, _: int) -> str:
    number = chance.randrange(1000)
    return f"<div class=ad><a href=/ad/{number}><img src=/ad/{number}.png width=300 height=90>Buy number {number} now</a></div>"


def _ages(_: random.Random, visit: int) -> str:
    return f"<ul><li>Kim wrote {3 + 5 * visit} minutes ago</li><li>Ada wrote {2 + visit} hours ago</li></ul>"


def _variants(chance: random.Random, _: int) -> str:
    if chance.random() < 0.5:
        return "<p class=call>Try it for free today</p><button class=green>Start</button>"
    return "<div class=call><p>Join ten thousand happy readers</p></div><button class=blue>Sign up</button>"


def _order(chance: random.Random, _: int) -> str:
    shuffled = chance.sample(_BIRDS, len(_BIRDS))
    return f"<ul>{''.join(f'<li><a href=/{bird}>More about the {bird}</a></li>' for bird in shuffled)}</ul>"


def _build(chance: random.Random, _: int) -> str:
    tag = f"{chance.getrandbits(32):08x}"
    return f"<link rel=stylesheet href=/static/main.{tag}.css><script src=/static/app.{tag}.js></script>"


def _tokens(chance: random.Random, _: int) -> str:
    token = f"{chance.getrandbits(64):016x}"
    return (
        f'<form action="/search?sid={token}"><input type=hidden name=csrf value={token}></form>'
        f"<script>var nonce = '{token}';</script><p><a href=/account?sid={token}>Your account</a></p>"
    )


def _pictures(chance: random.Random, visit: int) -> str:
    return f"<img src=/hero-{chance.randrange(9)}.jpg width=900 height=300><img src=/count?{visit} width=1 height=1>"


def _mixed(chance: random.Random, visit: int) -> str:
    return "".join(make(chance, visit) for name, make in NOISE.items() if name != "mixed")


NOISE: dict[str, Noise] = {
    "timestamp": _timestamp,
    "counter": _counter,
    "quotes": _quote,
    "advertisements": _advertisement,
    "ages": _ages,
    "variants": _variants,
    "order": _order,
    "build": _build,
    "tokens": _tokens,
    "pictures": _pictures,
    "mixed": _mixed,
}


def page(name: str, visit: int) -> str:
    """One of the pages, at one of the visits."""
    edits = sum(at <= visit for at in EDITS)
    noise = NOISE[name](random.Random(f"{name} {visit}"), visit)
    price = ("79.00", "75.00")[edits >= 1]
    second = "<p>It comes with a cable of two metres and a plug for every country.</p>" if edits >= 2 else ""
    title = ("A lamp for the desk", "A lamp for every desk")[edits >= 3]
    return (
        f"<!doctype html><title>{name}</title><nav><a href=/>Home</a> <a href=/shop>Shop</a></nav><h1>{title}</h1>"
        f"<p>This lamp gives a warm light, and takes five watts.</p><p>Price: {price}</p>{second}"
        f"<h2>Also about {name}</h2>{noise}<h2>Delivery</h2><p>We deliver within three days, to any place.</p>"
    )


def is_edit(visit: int) -> bool:
    return visit in EDITS
