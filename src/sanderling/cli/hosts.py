"""`sanderling status --hosts`: what is known about every host, and what its pages taught."""

import sys
from typing import Any

import msgspec

from sanderling.cli.output import write_json
from sanderling.model import Host, State, rendering
from sanderling.model.reasons import reason, sentence
from sanderling.presenting.screen import harmless
from sanderling.repository.store import HostStore
from sanderling.server.gate.host_memory import learned, mirror_of

# What most hosts say that are asked for a sitemap that no robots.txt names.
NO_SITEMAP = sentence(reason("status", 404))


def show(store: HostStore, as_json: bool) -> None:
    states, sitemaps = store.host_states(), store.sitemap_states()
    for host in store.hosts():
        facts = _facts(host, states.get(host.id, {}), sitemaps.get(host.id, []))
        if as_json:
            write_json(msgspec.json.encode(facts))
        else:
            sys.stdout.write("\n".join(_lines(facts)) + "\n")


def _facts(host: Host, states: dict[int, int], sitemaps: list[tuple[int, str, int]]) -> dict[str, Any]:
    known = learned(host)
    return {
        "host": host.origin,
        "robots": sentence(host.robots.reason) if host.robots else "",
        "fetched": states.get(State.FETCHED, 0),
        "queued": states.get(State.QUEUED, 0),
        "held": states.get(State.KNOWN, 0),
        "failed": states.get(State.FAILED, 0),
        "gone": states.get(State.GONE, 0),
        "excluded": states.get(State.EXCLUDED, 0),
        "sitemaps": {
            "read": sum(count for state, _, count in sitemaps if state == State.FETCHED),
            "not_read": {sentence(why): count for state, why, count in sitemaps if why and state != State.FETCHED},
        },
        "ignored_parameters": known.names.ignored,
        "counting_parameters": known.names.counting,
        "same_as": known.names.twin or None,
        "mirror_of": mirror_of(known) or None,
        "traps": [
            {"pattern": each.text, "visits": each.tried, "new": each.new}
            for each in known.traps.patterns
            if each.closed
        ],
        "soft_404": bool(known.traps.soft),
        "rendering": [
            {
                "pattern": each.pattern,
                "verdict": each.verdict.name.lower(),
                "samples": each.samples,
                "gains": each.gains,
                "words": each.words,
                "links": each.links,
                "pages": each.pages,
                "why": each.why,
            }
            for each in rendering.sampled_patterns(host.rendering)
        ],
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    counts = ", ".join(
        f"{facts[name]:,} {name}" for name in ("fetched", "queued", "held", "failed", "gone", "excluded") if facts[name]
    )
    lines = [f"{harmless(facts['host'])}  {counts or 'not visited yet'}"]
    if facts["robots"]:
        lines.append(f"  robots     {harmless(facts['robots'])}")
    if facts["sitemaps"]["read"]:
        lines.append(f"  sitemaps   {facts['sitemaps']['read']:,} read")
    for why, count in facts["sitemaps"]["not_read"].items():
        if why != NO_SITEMAP:
            lines.append(f"  sitemaps   {count:,} not read: {harmless(why)}")
    if facts["same_as"]:
        lines.append(f"  same as    {harmless(facts['same_as'])}")
    if facts["mirror_of"]:
        lines.append(f"  mirror of  {harmless(facts['mirror_of'])}, {facts['held']:,} URLs held")
    for name, evidence in facts["ignored_parameters"].items():
        lines.append(f"  parameter  {harmless(name)} does not count: {harmless(evidence)}")
    for trap in facts["traps"]:
        lines.append(
            f"  held back  {harmless(trap['pattern'])}: {trap['new']} of {trap['visits']} visits brought something new"
        )
    for each in facts["rendering"]:
        lines.append(f"  rendering  {harmless(each['pattern'])}: {each['why']}")
    if facts["soft_404"]:
        lines.append("  soft 404   answers 200 for addresses that do not exist")
    return lines
