"""What the user wants to happen on pages before they are read: something to wait for, clicks, and a
few lines of script."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sanderling.errors import BadSetting
from sanderling.settings import Settings
from sanderling.urls import document_of
from sanderling.urls.patterns import pattern

if TYPE_CHECKING:
    import re2

# Between a pattern of URLs and what is for the pages that match it.
ARROW = " => "
LONGEST_SCRIPT = 1 << 20
# What is to be clicked may appear late, for instance after another click. In seconds.
LONGEST_WAIT = 10.0
_CLICK = """
for (const began = Date.now(); !document.querySelector(wanted) && Date.now() - began < longest;)
    await new Promise((done) => setTimeout(done, 50));
document.querySelector(wanted)?.click();
await new Promise((done) => setTimeout(done, 50));
"""


class PageRule(NamedTuple):
    pages: "re2._Regexp | None"  # None for all pages
    value: str


class PageRules:
    """The rules of one crawl. Files that they name are looked for in the folder of the crawl."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._selectors = [_rule(text) for text in settings.wait_for]
        rules = [_rule(text) for text in settings.run_script]
        self._scripts = [PageRule(rule.pages, _read(folder / rule.value)) for rule in rules]
        for watch in settings.watch:
            pages = pattern(f"^{re.escape(document_of(watch.url))}$")
            self._selectors += [PageRule(pages, each) for each in watch.wait_for]
            self._scripts += [PageRule(pages, _click(each)) for each in watch.click]
            self._scripts += [PageRule(pages, _read(folder / watch.script))] if watch.script else []

    def selectors(self, url: str) -> list[str]:
        """What has to be on a page before it is read, as CSS selectors."""
        return _matching(self._selectors, url)

    def scripts(self, url: str) -> list[str]:
        """The scripts that are run on a page before it is read."""
        return _matching(self._scripts, url)


def _rule(text: str) -> PageRule:
    pages, arrow, value = text.partition(ARROW)
    return PageRule(pattern(pages.strip()), value.strip()) if arrow else PageRule(None, text.strip())


def _click(selector: str) -> str:
    return f"const wanted = {json.dumps(selector)}, longest = {LONGEST_WAIT * 1000:g};\n{_CLICK}"


def _matching(rules: list[PageRule], url: str) -> list[str]:
    return [rule.value for rule in rules if rule.pages is None or rule.pages.search(url)]


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(LONGEST_SCRIPT).decode("utf-8-sig", "replace")
    except OSError as error:
        raise BadSetting(f"run_script: {path} cannot be read: {error.strerror}") from None
