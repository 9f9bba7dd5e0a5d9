"""A Git repository to browse: 203 files in folders, and 40 commits that edit them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench.field.application import Edits, Item, Site
from bench.field.content import articles

FILES, COMMITS, NAME = 203, 40, "shore"
_WHO = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in
        (("NAME", "A. Keeper"), ("EMAIL", "keeper@example.org"))}  # fmt: skip


def make(site: Site, files: int = FILES, commits: int = COMMITS) -> Path:
    """The repository in the folder of the site, with what it is made from beside it."""
    work = _work(site)
    work.mkdir()
    _git(work, "init", "-q", "-b", "master")
    known = articles(files)
    share = -(-files // max(1, commits // 2))
    for number in range(commits):
        added = known[number * share : (number + 1) * share]
        for article in added:
            path = _file(work, article.number)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {article.title}\n\n" + "\n".join(article.paragraphs) + "\n")
        if not added:
            _append(work, number % files, f"note {number}\n")
        _commit(work, f"Describe part {number} of the shore", 1_700_000_000 + number * 86_400)
    bare = site.place / "repositories" / f"{NAME}.git"
    bare.parent.mkdir()
    _git(site.place, "clone", "-q", "--bare", str(work), str(bare))
    (bare / "description").write_text("Notes of the shore\n")
    _git(work, "remote", "add", "origin", str(bare))
    return bare


def files(site: Site) -> list[str]:
    return _git(_bare(site), "ls-tree", "-r", "--name-only", "master").split()


def blobs(site: Site) -> dict[str, str]:
    """The id of the content of each file."""
    lines = _git(_bare(site), "ls-tree", "-r", "master").splitlines()
    return {line.partition("\t")[2]: line.split()[2] for line in lines}


def commits(site: Site) -> list[str]:
    return _git(_bare(site), "log", "--format=%H", "master").split()


def edit(site: Site, items: Sequence[Item], path_of: dict[str, int]) -> Edits:
    """One commit that changes three files. `path_of` says which of the items shows a file."""
    work = _work(site)
    names = files(site)[:3]
    for name in names:
        with (work / name).open("a") as file:
            file.write("A line that was added later.\n")
    _commit(work, "Add what was seen later", 1_710_000_000)
    _git(work, "push", "-q", "origin", "master")
    return Edits(changed=[items[path_of[name]] for name in names])


def word_of(name: str) -> str:
    number = int(Path(name).stem.rpartition("-")[2])
    return articles(1, first=number)[0].word


def _file(work: Path, number: int) -> Path:
    return work / f"part{number % 12}" / f"notes{number % 3}" / f"text-{number}.md"


def _append(work: Path, number: int, text: str) -> None:
    with _file(work, number).open("a") as file:
        file.write(text)


def _commit(work: Path, message: str, when: int) -> None:
    _git(work, "add", "-A")
    day = {"GIT_AUTHOR_DATE": f"{when} +0000", "GIT_COMMITTER_DATE": f"{when} +0000"}
    _git(work, "commit", "-q", "-m", message, **day)


def _git(folder: Path, *arguments: str, **environment: str) -> str:
    known = {**os.environ, **_WHO, "GIT_CONFIG_GLOBAL": "/dev/null", **environment}
    command = ["git", "-c", "safe.directory=*", *arguments]
    return subprocess.run(command, cwd=folder, env=known, check=True, capture_output=True, text=True).stdout


def _work(site: Site) -> Path:
    return site.place / "work"


def _bare(site: Site) -> Path:
    return site.place / "repositories" / f"{NAME}.git"
