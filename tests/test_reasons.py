"""Reasons are stored as codes. Every code that the program uses has a sentence, and every sentence
can be formatted."""

import ast
from pathlib import Path

import pytest

import sanderling
from sanderling.model.reasons import OUT_OF_SCOPE, SENTENCES, argument_of, code_of, reason, sentence

SOURCE = Path(sanderling.__file__).parent


def trees_with(text: str) -> list[ast.Module]:
    """The files of the program that contain a text."""
    codes = (path.read_text("utf-8") for path in SOURCE.rglob("*.py"))
    return [ast.parse(code) for code in codes if text in code]


def used() -> set[tuple[str, int]]:
    """The codes that the program makes, each with how many arguments it gives."""
    found = set()
    for tree in trees_with("reason("):
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            named = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if named == "reason" and node.args and isinstance(node.args[0], ast.Constant):
                found.add((str(node.args[0].value), len(node.args) - 1))
    return found


def compared() -> set[str]:
    """The codes that the program compares reasons with."""
    found = set()
    for tree in trees_with("code_of("):
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare) and ast.unparse(node.left).partition("(")[0] in (
                "code_of",
                "reasons.code_of",
            ):
                found |= {each.value for each in ast.walk(node.comparators[0]) if isinstance(each, ast.Constant)}
    return found


def test_every_code_that_is_used_has_a_sentence_for_its_arguments() -> None:
    assert ("status", 1) in used()
    for code, arguments in used():
        assert code in SENTENCES, code
        assert SENTENCES[code].count("{}") == arguments, code
    assert "merged-parameters" in compared() <= SENTENCES.keys()


@pytest.mark.parametrize("code", SENTENCES)
def test_every_sentence_can_be_said(code: str) -> None:
    slots = SENTENCES[code].count("{}")
    stored = reason(code, *["x{y}: z" if slots == 1 else "x"] * slots)
    assert code_of(stored) == code
    assert sentence(stored) == SENTENCES[code].replace("{}", "x{y}: z" if slots == 1 else "x")
    assert set(OUT_OF_SCOPE) <= SENTENCES.keys()


def test_what_a_reason_is_made_of() -> None:
    assert reason("robots") == "robots" and argument_of("robots") == ""
    assert reason("status", 403) == "status:403" and sentence("status:403") == "answered 403"
    assert argument_of("timed-out:after 3 s: gone") == "after 3 s: gone"
    merged = reason("merged-host", "http://e.org", "https://e.org")
    assert merged == "merged-host:http://e.org https://e.org"
    assert sentence(merged) == "merged: http://e.org is https://e.org"
    assert (
        sentence("robots-unreadable:first-byte:3")
        == "robots.txt could not be read: timed out: no first byte within 3 s"
    )
    assert sentence("") == ""
    assert sentence("from-the-future:1") == "from-the-future:1"
