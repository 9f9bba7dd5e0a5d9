"""Selectors of parts of a page: CSS, XPath, or JSONPath for answers in JSON.

How a selector begins says what it is: `/` or `xpath:` for XPath, `$` or `json:` for JSONPath,
anything else is CSS. Patterns in JSONPath (`match`, `search`) are left out: they may take forever.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from sanderling.documents.tree import Document, Element, SelectorSyntaxError, escape, parse

if TYPE_CHECKING:
    from jsonpath import CompoundJSONPath, JSONPath, JSONPathEnvironment

Language = Literal["css", "xpath", "json"]
_PREFIXES: dict[str, Language] = {"xpath:": "xpath", "json:": "json", "css:": "css"}
_UNLIMITED = ("match", "search")


def language_of(selector: str) -> tuple[Language, str]:
    """What a selector is written in, and the selector without its prefix."""
    for prefix, language in _PREFIXES.items():
        if selector.startswith(prefix):
            return language, selector.removeprefix(prefix).strip()
    if selector.startswith(("/", "(/")):
        return "xpath", selector
    return ("json", selector) if selector.startswith("$") else ("css", selector)


def problem(selector: str) -> str | None:
    """Why a selector is not valid, as a message for the user. None if it is valid."""
    language, text = language_of(selector)
    try:
        if language == "css":
            parse("").select(text)
        elif language == "xpath":
            parse("").xpath(text)
        else:
            _json_path(text)
    except (SelectorSyntaxError, ValueError) as error:
        return str(error)
    return None


def without(document: Document, selectors: Sequence[str]) -> Document:
    """The page without what the selectors match. The page itself may be changed."""
    named = [language_of(each) for each in selectors]
    json_paths = [text for language, text in named if language == "json"]
    data = _data(document) if json_paths else []
    if data:
        for text in json_paths:
            _remove(data, text)
        document = page_of([_written(each) for each in data])
    for language, text in named:
        if language == "css":
            document.remove(text)
        elif language == "xpath":
            for found in _nodes(document.xpath(text)):
                if isinstance(found, Element):
                    found.decompose()
    return document


def parts(document: Document, selectors: Sequence[str]) -> list[str]:
    """The parts of a page that the selectors match, as HTML. Those that CSS matches come first, in
    the order of the page, each once."""
    css = [text for language, text in map(language_of, selectors) if language == "css"]
    found = [each.html for each in _outermost(document.select(",".join(css)))] if css else []
    for selector in selectors:
        language, text = language_of(selector)
        if language == "xpath":
            nodes = _nodes(document.xpath(text))
            inner = {id(node) for node in _outermost([node for node in nodes if isinstance(node, Element)])}
            found += [_html(node) for node in nodes if not isinstance(node, Element) or id(node) in inner]
        elif language == "json":
            found += [_lines(_written(each)) for each in _matches(document, text)]
    return found


def matches(document: Document, selector: str) -> bool:
    """Whether a selector matches anything on a page."""
    language, text = language_of(selector)
    return document.select_one(text) is not None if language == "css" else bool(parts(document, [selector]))


def page_of(texts: Sequence[str]) -> Document:
    """Texts as a page of them."""
    return parse("".join(map(_lines, texts)))


def _outermost(found: Sequence[Element]) -> list[Element]:
    inner = {id(each) for each in found}
    return [each for each in found if not any(id(parent) in inner for parent in each.ancestors)]


def _nodes(found: object) -> list[Any]:
    """The result of an XPath as a list: `count(//p)` is a number, `//a/@href` are texts."""
    if isinstance(found, list):
        return found
    return [found] if not isinstance(found, bool) or found else []


def _html(node: object) -> str:
    if isinstance(node, Element):
        return node.html
    return _lines(f"{node:g}" if isinstance(node, float) else str(node))


def _lines(text: str) -> str:
    return f"<pre>\n{escape(text, quote=False)}</pre>"


# ---- JSON


@cache
def _json_paths() -> JSONPathEnvironment:
    from jsonpath import JSONPathEnvironment  # late: few pages are JSON

    environment = JSONPathEnvironment(strict=True)
    for name in _UNLIMITED:
        del environment.function_extensions[name]
    return environment


@cache
def _json_path(text: str) -> JSONPath | CompoundJSONPath:
    from jsonpath import JSONPathError

    try:
        return _json_paths().compile(text)
    except JSONPathError as error:
        raise ValueError(str(error)) from None


def _data(document: Document) -> list[Any]:
    """The values of an answer in JSON, or those that a page holds for machines (JSON-LD)."""
    text = document.text.strip()
    texts = [text] if text[:1] in ("{", "[") else []
    texts += [each.text for each in document.select('script[type="application/ld+json"]')]
    found = []
    for each in texts:
        try:
            found.append(json.loads(each))
        except (ValueError, RecursionError):
            continue
    return found


def _matches(document: Document, text: str) -> list[Any]:
    from jsonpath import JSONPathError

    try:
        return [value for data in _data(document) for value in _json_path(text).findall(data)]
    except (JSONPathError, RecursionError):  # it does not fit these values, or they are nested too deeply
        return []


def _remove(values: list[Any], text: str) -> None:
    from jsonpath import JSONPathError

    for data in values:
        try:
            places = [match.parts for match in _json_path(text).finditer(data)]
        except (JSONPathError, RecursionError):
            continue
        for *above, last in reversed(places):
            holder = data
            for step in above:
                holder = holder[step]
            del holder[last]


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)
