"""The events of a page that may show more of it: by listeners, delegated ones among them, by roles
and tags, and by what its site says.
"""

import json
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from sanderling.browser.devtools import CallRefused
from sanderling.browser.event_path import Step
from sanderling.browser.scripts import script
from sanderling.browser.tab import Tab
from sanderling.model import HintedEvent

_LISTENED = frozenset(
    ("click", "dblclick", "mousedown", "mouseup", "pointerdown", "mouseover", "mouseenter", "pointerenter")
)
# At most this many elements are asked for listeners. A list of a thousand entries repeats the same
# few handlers.
MOST_LISTENERS = 500
_PATIENCE = 10.0


class EventCandidate(NamedTuple):
    """An event on an element. Those with the same key have the same handler, kind of element, text
    and target."""

    step: Step
    key: str
    grows: bool  # its text promises more of the same
    text: str


async def candidates(tab: Tab, hints: Sequence[HintedEvent] = (), only: bool = False) -> list[EventCandidate]:
    """What may be triggered on the page as it is now, in the order in which to try it.

    The site's `hints` come first. They are candidates like others: what does harm is not triggered.
    With `only`, there are no others.
    """
    if only and not hints:
        return []
    deadline = time.monotonic() + _PATIENCE
    try:
        context = await tab.world(deadline)
        heard = await _listeners(tab, deadline)
        nodes = [
            tab.call("DOM.resolveNode", {"backendNodeId": node, "executionContextId": context}) for node, _, _ in heard
        ]
        told, elements = [], []
        for (_, event, handler), resolved in zip(heard, nodes, strict=True):
            try:
                node: msgspec.Raw = await tab.within(resolved, deadline)
            except CallRefused:  # it is gone already
                continue
            element = msgspec.json.decode(node)["object"].get("objectId")
            if element is not None:  # else it is in a frame of another origin
                told.append([event, handler])
                elements.append({"objectId": element})
        call = {
            "functionDeclaration": script("events"),
            "executionContextId": context,
            "arguments": [{"value": told}, {"value": hints}, {"value": only}, *elements],
            "returnByValue": True,
        }
        result: msgspec.Raw = await tab.within(tab.call("Runtime.callFunctionOn", call), deadline)
    except CallRefused:  # the document went away
        return []
    answer = msgspec.json.decode(result)
    if "exceptionDetails" in answer:
        return []
    found = answer["result"].get("value") or []
    return [
        EventCandidate(Step(each["event"], each["selector"]), each["key"], each["grows"], each["text"])
        for each in found
    ]


async def trigger(tab: Tab, step: Step) -> bool:
    """Makes an event happen once. False if its element is not there."""
    expression = f"({script('trigger')})({json.dumps(step.event)}, {json.dumps(step.selector)})"
    return bool(await tab.evaluate(expression, time.monotonic() + _PATIENCE))


async def _listeners(tab: Tab, deadline: float) -> list[tuple[int, str, str]]:
    """Elements with listeners: their number, the kind of event, and where the handler is
    defined."""
    made: msgspec.Raw = await tab.within(tab.call("Runtime.evaluate", {"expression": "document"}), deadline)
    document = msgspec.json.decode(made)["result"].get("objectId")
    if document is None:
        return []
    asked = {"objectId": document, "depth": -1, "pierce": True}
    answer: msgspec.Raw = await tab.within(tab.call("DOMDebugger.getEventListeners", asked), deadline)
    found: list[dict[str, Any]] = msgspec.json.decode(answer)["listeners"]
    return [
        (each["backendNodeId"], each["type"], f"{each['scriptId']}:{each['lineNumber']}:{each['columnNumber']}")
        for each in found
        if each["type"] in _LISTENED and "backendNodeId" in each
    ][:MOST_LISTENERS]
