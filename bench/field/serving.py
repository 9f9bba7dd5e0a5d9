"""Serves one application until interrupted, to try things by hand. A line on standard input edits
its content."""

from __future__ import annotations

import sys
import time

from bench.field.application import fresh, running
from bench.field.registry import APPLICATIONS
from bench.places import BenchError, say


def serve(name: str, port: int, hidden: bool) -> int:
    if name not in APPLICATIONS:
        raise BenchError(f"There is no application {name!r}; there are {', '.join(APPLICATIONS)}.")
    application = APPLICATIONS[name]
    application.install()
    site = fresh(name, port)
    application.fill(site)
    if hidden:
        application.hide(site)  # type: ignore[attr-defined]
    with running(application, site) as url:
        print(url, flush=True)
        for _ in sys.stdin:
            edits = application.edit(site)
            say(f"Edited: {len(edits.changed)} changed, {len(edits.new)} new, {len(edits.gone)} gone.")
        while True:
            time.sleep(3600)
