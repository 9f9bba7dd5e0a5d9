"""Collects pages that the extractor was not written with.

`python -m bench extraction --held-out` measures on them.

They are test data in packages of other extractors: mercury-parser (npm; for each news site somebody
wrote down by hand which element has the article), article-extractor (PyPI; with the HTML of the
article) and GNE (PyPI; news in Chinese, with what GNE itself finds).
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.article_set import Article, unpacked
from bench.places import BenchError

_GNE = re.compile(r">+(\S+?\.html)>+\n(\{.*?\n\})\n<{10}", re.DOTALL)
# Prints, as JSON, what each file of a site says: the selectors of the content, of what is not
# content in it, and the names of pages in its test.
_SITES = """
const fs = require('fs'), path = require('path'), vm = require('vm'), found = [];
for (const site of fs.readdirSync('src/extractors/custom')) {
  const folder = path.join('src/extractors/custom', site), test = path.join(folder, 'index.test.js');
  if (!fs.existsSync(test)) continue;
  const code = fs.readFileSync(path.join(folder, 'index.js'), 'utf8').replace(/^import .*$/mg, '')
    .replace(/export const \\w+\\s*=/, 'module.exports =').replace(/export (const|default)/g, '$1');
  const module = {exports: {}};
  vm.runInNewContext(code, {module, URL});
  const {selectors, clean} = module.exports.content;
  const pages = [...fs.readFileSync(test, 'utf8').matchAll(/fixtures\\/([^'"`]+\\.html)/g)].map(each => each[1]);
  found.push({site, selectors, clean: clean || [], pages: [...new Set(pages)]});
}
console.log(JSON.stringify(found));
"""


class Site(NamedTuple):
    site: str
    selectors: list[str | list[Any]]  # a list of them: all together; in that, a pair names an attribute
    clean: list[str]
    pages: list[str]


def articles() -> Iterator[Article]:
    yield from _mercury()
    yield from _article_extractor()
    yield from _gne()


def _mercury() -> Iterator[Article]:
    (home,) = unpacked("npm", "@postlight/mercury-parser@1.1.1").glob("package")
    ran = subprocess.run(["node", "-e", _SITES], cwd=home, capture_output=True, text=True)
    if ran.returncode:
        raise BenchError(f"node cannot read the extractors of mercury-parser: {ran.stderr.strip()[-300:]}")
    for site in (Site(**each) for each in json.loads(ran.stdout)):
        for name in site.pages:
            file = home / "fixtures" / name
            if file.exists() and (text := _selected(file.read_bytes(), site)):
                yield Article(f"mercury-{name.replace('/', '-')}", "mercury", file.read_bytes(), text)


def _selected(html: bytes, site: Site) -> str:
    """The text of the elements that the first selector with a match finds."""
    from sanderling.documents.html import HtmlPage
    from sanderling.documents.visible import rendered_text

    document = HtmlPage(html, None, "http://example.org/").document
    for element in document.find_all(["script", "style", "noscript", "iframe", "template"]):
        element.decompose()
    for selector in site.selectors:
        parts = [selector] if isinstance(selector, str) else selector
        groups = [_all(document, each) for each in parts]
        if not all(groups):
            continue
        chosen = dict.fromkeys(each for group in groups for each in group)
        outermost = [each for each in chosen if chosen.keys().isdisjoint(each.ancestors)]
        for unwanted in [found for each in outermost for said in site.clean for found in _all(each, said)]:
            unwanted.decompose()
        return "\n".join(map(rendered_text, outermost))
    return ""


def _all(part: Any, selector: Any) -> list[Any]:
    """Also with a word of jQuery, which is no CSS; what else is no selector finds nothing."""
    if not isinstance(selector, str):
        return []
    try:
        return list(part.select(selector.replace(":first", "")))
    except ValueError:
        return []


def _article_extractor() -> Iterator[Article]:
    for expected in sorted(unpacked("pypi", "article-extractor==0.5.9").glob("**/fullpage*/**/expected.html")):
        name = f"extractor-{expected.parent.parent.name}-{expected.parent.name}"
        yield Article(name, "extractor", (expected.parent / "raw.html").read_bytes(), _text(expected))


def _text(file: Path) -> str:
    from sanderling.documents.html import HtmlPage

    return HtmlPage(file.read_bytes(), "utf-8", "http://example.org/").text()


def _gne() -> Iterator[Article]:
    (found,) = unpacked("pypi", "gne==0.4.3").glob("*/result.txt")
    for name, facts in _GNE.findall(found.read_text("utf-8")):
        file = found.parent / name
        if file.exists():
            text = json.loads(facts, strict=False)["content"]
            yield Article(f"gne-{name.replace('/', '-')}", "gne", file.read_bytes(), text)
