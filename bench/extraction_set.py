"""Makes pages whose main content is known exactly, for `python -m bench extraction`.

The texts are documentation sources that others wrote: reST from documentation packages of Debian,
and Markdown from packages of npm. Sphinx, MkDocs and Hexo build each text into pages of the themes
that real sites use. The text of a page is what the generator hands to the theme.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

from bench.places import CACHE, BenchError, say

DEBIAN = (
    "python-aiohttp-doc", "python-attr-doc", "python-click-doc", "python-flask-doc", "python-jinja2-doc",
    "python-pytest-doc", "python-tornado-doc", "python-werkzeug-doc", "python-requests-doc",
)  # fmt: skip
NPM = (
    "ajv", "async", "ava", "axios", "boxen", "busboy", "chai", "cheerio", "chokidar", "commander", "convict", "cors",
    "debug", "dotenv", "ejs", "execa", "express", "fastify", "formidable", "fs-extra", "glob", "got", "handlebars",
    "helmet", "immer", "inquirer", "ioredis", "jest", "joi", "jsonwebtoken", "knex", "koa", "listr2", "luxon",
    "markdown-it", "marked", "minimatch", "mobx", "mocha", "mongoose", "morgan", "multer", "nock", "nodemailer",
    "nodemon", "ora", "passport", "pino", "pm2", "prettier", "pug", "qs", "ramda", "redux", "rehype", "remark", "rimraf",
    "semver", "sharp", "shelljs", "socket.io", "superagent", "supertest", "tap", "three", "unified", "winston", "ws",
    "yargs", "zod",
)  # fmt: skip
SPHINX_THEMES = {
    "alabaster": "alabaster", "sphinx_rtd_theme": "sphinx-rtd-theme", "furo": "furo",
    "pydata_sphinx_theme": "pydata-sphinx-theme", "classic": "sphinx", "sphinx_book_theme": "sphinx-book-theme",
}  # fmt: skip
MKDOCS_THEMES = {"mkdocs": "mkdocs", "readthedocs": "mkdocs", "material": "mkdocs-material"}
HEXO_THEMES = ("landscape", "fluid", "butterfly")
HEXO = (
    "hexo", "hexo-renderer-marked", "hexo-renderer-ejs", "hexo-renderer-stylus", "hexo-renderer-pug",
    "hexo-renderer-nunjucks", "hexo-generator-index", "hexo-generator-archive", "hexo-generator-tag",
    "hexo-generator-category",
)  # fmt: skip
MOST_OF_ONE = 30
FEWEST_WORDS = 60
_HOOK = """
import json
def on_page_content(html, page, **_):
    with open("truth.jsonl", "a") as file:
        file.write(json.dumps([page.file.dest_path, html]) + "\\n")
"""
_FILTER = """
const fs = require('fs');
hexo.extend.filter.register('after_post_render', post => {
  fs.appendFileSync('truth.jsonl', JSON.stringify([post.path, post.content]) + '\\n'); return post;
}, 1);
"""


class BuiltPage(NamedTuple):
    """A page, and the HTML of its main content."""

    name: str
    kind: str
    html: str
    content: str


def build(place: Path) -> None:
    """Makes the set: `ground-truth.json` and gzipped pages, as the public article benchmark has
    them."""
    (place / "html").mkdir(parents=True, exist_ok=True)
    truth = {}
    for page in (*_sphinx(), *_mkdocs(), *_hexo()):
        text = text_of(page.content)
        if len(text.split()) >= FEWEST_WORDS:
            key = hashlib.sha256(page.name.encode()).hexdigest()
            (place / "html" / f"{key}.html.gz").write_bytes(gzip.compress(page.html.encode(), mtime=0))
            truth[key] = {"articleBody": text, "url": f"http://{page.name}", "kind": page.kind}
    (place / "ground-truth.json").write_text(json.dumps(truth, ensure_ascii=False, indent=1))
    say(f"{len(truth):,} pages in {place}")


def text_of(content: str) -> str:
    from sanderling.documents.html import HtmlPage

    return HtmlPage(content, None, "http://bench/").text()


def _sphinx() -> Iterator[BuiltPage]:
    python = _python(*{"sphinx", *SPHINX_THEMES.values()})
    themes = cycle(SPHINX_THEMES)
    for package in DEBIAN:
        source = _debian(package)
        for builder, options in [
            ("json", ["html_permalinks=0"]),
            *(("html", [f"html_theme={t}"]) for t in islice(themes, 2)),
        ]:
            theme = options[0].partition("=")[2] if builder == "html" else "json"
            out = source.parent / theme
            if not out.exists():
                say(f"building {package} with {theme} ...")
                flags = [flag for option in options for flag in ("-D", option)]
                _run([python, "-m", "sphinx", "-Q", "-C", "-b", builder, *flags, source, out])
            if builder == "json":
                continue
            for page in sorted(source.parent.joinpath("json").rglob("*.fjson")):
                name = page.relative_to(source.parent / "json").with_suffix(".html")
                if (out / name).exists() and (body := json.loads(page.read_text()).get("body")):
                    yield BuiltPage(f"{package}/{theme}/{name}", "docs", (out / name).read_text(), body)


def _debian(package: str) -> Path:
    """The reST sources of some pages of a documentation package."""
    place = CACHE / "extraction" / package
    if not (place / "source").exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        _run(["apt-get", "download", "-qq", package], place)
        _run(["dpkg-deb", "-x", next(place.glob("*.deb")), place / "package"])
        found = sorted(p for p in place.glob("package/**/_sources/**/*.txt") if not p.is_symlink())
        chosen = sorted(found, key=lambda p: hashlib.sha256(p.name.encode()).digest())[:MOST_OF_ONE]
        for path in chosen:
            relative = path.parts[path.parts.index("_sources") + 1 :]
            target = place / "source" / Path(*relative).with_suffix("")
            target = target if target.suffix == ".rst" else target.with_suffix(".rst")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        names = "\n   ".join(
            str(p.relative_to(place / "source").with_suffix("")) for p in (place / "source").rglob("*.rst")
        )
        index = place / "source" / "index.rst"
        if not index.exists():
            index.write_text(f"{package}\n{'=' * len(package)}\n\n.. toctree::\n\n   {names}\n")
    return place / "source"


def _mkdocs() -> Iterator[BuiltPage]:
    python = _python(*{"mkdocs", *MKDOCS_THEMES.values()})
    for theme in MKDOCS_THEMES:
        place = CACHE / "extraction" / f"mkdocs-{theme}"
        if not (place / "site").exists():
            shutil.rmtree(place, ignore_errors=True)
            (place / "docs").mkdir(parents=True)
            for name, text in _readmes():
                (place / "docs" / f"{name}.md").write_text(text)
            (place / "docs" / "index.md").write_text("# Packages\n")
            (place / "hook.py").write_text(_HOOK)
            (place / "mkdocs.yml").write_text(f"site_name: Packages\ntheme: {theme}\nhooks: [hook.py]\n")
            say(f"building with MkDocs and {theme} ...")
            _run([python, "-m", "mkdocs", "build", "-q"], place)
        for name, content in map(json.loads, (place / "truth.jsonl").read_text().splitlines()):
            yield BuiltPage(f"mkdocs-{theme}/{name}", "docs", (place / "site" / name).read_text(), content)


def _hexo() -> Iterator[BuiltPage]:
    for theme in HEXO_THEMES:
        place = CACHE / "extraction" / f"hexo-{theme}"
        if not (place / "public").exists():
            shutil.rmtree(place, ignore_errors=True)
            (place / "source" / "_posts").mkdir(parents=True)
            (place / "scripts").mkdir()
            (place / "scripts" / "truth.js").write_text(_FILTER)
            (place / "package.json").write_text('{"name": "blog", "version": "1.0.0", "hexo": {"version": ""}}')
            (place / "_config.yml").write_text(f"title: Packages\nurl: http://blog\ntheme: {theme}\nper_page: 10\n")
            for day, (name, text) in enumerate(_readmes()):
                front = f"title: About {name}\ndate: 2024-{1 + day // 28:02}-{1 + day % 28:02}\ntags: [{name[0]}, packages]\ncategories: [news]"
                raw = "{% raw %}\n" + text.replace("{% raw %}", "").replace("{% endraw %}", "") + "\n{% endraw %}\n"
                (place / "source" / "_posts" / f"{name}.md").write_text(f"---\n{front}\n---\n{raw}")
            say(f"building with Hexo and {theme} ...")
            _run(["npm", "install", "--silent", "--no-audit", "--no-fund", *HEXO, f"hexo-theme-{theme}"], place)
            _run(["npx", "hexo", "generate", "--silent"], place)
        for name, content in map(json.loads, (place / "truth.jsonl").read_text().splitlines()):
            built = place / "public" / name / "index.html"
            if built.exists():
                yield BuiltPage(f"hexo-{theme}/{name}", "blog", built.read_text(), content)


def _readmes() -> list[tuple[str, str]]:
    """The longer texts about packages of npm, with their names."""
    place = CACHE / "extraction" / "npm"
    place.mkdir(parents=True, exist_ok=True)
    found = []
    for name in NPM:
        if not (kept := place / f"{name}.md").exists():
            packed = _run(["npm", "pack", "--silent", name], place).split()[-1]
            with tarfile.open(place / packed) as archive:
                texts = [m for m in archive.getmembers() if m.name.lower() == "package/readme.md"]
                file = archive.extractfile(texts[0]) if texts else None
                kept.write_bytes(file.read() if file is not None else b"")
        text = kept.read_text("utf-8", "replace")
        if len(text.split()) > 5 * FEWEST_WORDS:
            found.append((name.replace(".", "-"), text))
    return found


def _python(*packages: str) -> Path:
    """An environment of its own for the generators."""
    place = CACHE / "extraction" / "venv"
    marker = place / "-".join(sorted(packages))
    if not marker.exists():
        if not place.exists():
            _run([sys.executable, "-m", "venv", place])
        _run([place / "bin" / "pip", "install", "-q", *packages])
        marker.touch()
    return place / "bin" / "python"


def _run(command: list[object], folder: Path | None = None) -> str:
    words = [str(word) for word in command]
    ran = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if ran.returncode:
        raise BenchError(f"{' '.join(words[:4])} failed: {(ran.stderr or ran.stdout).strip()[-400:]}")
    return ran.stdout
