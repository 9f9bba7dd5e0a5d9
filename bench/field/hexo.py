"""Hexo of npm: a blog of 100 posts with tags, categories and archives."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence

from bench.field import npm
from bench.field.application import Edits, Item, Manners, Site
from bench.field.content import Article, articles
from bench.places import BenchError

POSTS = 100
MANNERS = Manners(lists=r"^/(page/\d+/|archives/.*|tags/.*|categories/.*)?$")
_PACKAGES = (
    "hexo@8.1.2", "hexo-generator-archive@2.0.0", "hexo-generator-category@2.0.0", "hexo-generator-index@4.0.0",
    "hexo-generator-tag@2.0.0", "hexo-renderer-ejs@2.0.0", "hexo-renderer-marked@7.0.1",
    "hexo-renderer-stylus@3.0.1", "hexo-theme-landscape@1.1.0", "hexo-generator-feed@3.0.0",
)  # fmt: skip
_SETTINGS = """title: Shore
url: {url}
permalink: :year/:month/:day/:title/
public_dir: files
theme: landscape
feed:
  type: atom
  path: atom.xml
"""


def install() -> None:
    npm.packages("hexo", *_PACKAGES)


def fill(site: Site) -> None:
    blog, modules = site.place / "blog", npm.packages("hexo", *_PACKAGES)
    blog.mkdir()
    (blog / "node_modules").symlink_to(modules)
    package = json.loads((modules.parent / "package.json").read_text())
    (blog / "package.json").write_text(json.dumps(package | {"hexo": {"version": "8"}}))
    (blog / "_config.yml").write_text(_SETTINGS.format(url=site.url.rstrip("/")))
    for article in articles(POSTS):
        _write(site, article)
    _generate(site)


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    return [npm.serve(site)]


def truth(site: Site) -> list[Item]:
    posts = site.place / "blog" / "source" / "_posts"
    return [
        Item((f"{site.url}{_day(article)}/{article.slug}/",), article.word)
        for article in articles(POSTS + 1)
        if (posts / f"{article.slug}.md").exists()
    ]


def edit(site: Site) -> Edits:
    before = {item.word: item for item in truth(site)}
    known = articles(POSTS + 1)
    for article in known[:4]:
        _write(site, article, "\nIt was seen twice more.\n")
    gone, new = known[9], known[POSTS]
    (site.place / "blog" / "source" / "_posts" / f"{gone.slug}.md").unlink()
    _write(site, new)
    _generate(site)
    after = {item.word: item for item in truth(site)}
    return Edits([before[a.word] for a in known[:4]], [after[new.word]], [before[gone.word]])


def _write(site: Site, article: Article, more: str = "") -> None:
    number = article.number
    post = site.place / "blog" / "source" / "_posts" / f"{article.slug}.md"
    post.parent.mkdir(parents=True, exist_ok=True)
    head = f"title: {article.title}\ndate: {_day(article).replace('/', '-')} 10:00:00\nupdated: 2023-12-30 10:00:00\n"
    head += f"tags: [t{number % 15}, u{number % 4}]\ncategories: [c{number % 5}]\n"
    post.write_text(f"---\n{head}---\n{article.text}\n{more}")


def _day(article: Article) -> str:
    return f"2023/{article.number % 12 + 1:02}/{article.number % 28 + 1:02}"


def _generate(site: Site) -> None:
    blog, files = site.place / "blog", site.place / "files"
    shutil.rmtree(blog / "files", ignore_errors=True)
    (blog / "db.json").unlink(missing_ok=True)
    command = ["node", "node_modules/hexo/bin/hexo", "generate"]
    made = subprocess.run(command, cwd=blog, capture_output=True, text=True)
    if made.returncode:
        raise BenchError(f"hexo could not make the blog: {made.stderr[-500:]}")
    new = site.place / "new"
    shutil.copytree(blog / "files", new)
    if files.exists():
        files.rename(site.place / "old")
    new.rename(files)
    shutil.rmtree(site.place / "old", ignore_errors=True)
