"""Redmine of Debian: a project with 40 issues, a wiki of 30 pages and 10 news."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from bench.field.application import Edits, Item, Manners, Site, spawn
from bench.field.content import Article, articles
from bench.places import BenchError, need_debian

ISSUES, PAGES, NEWS = 40, 30, 10
PROGRAM = Path("/usr/share/redmine")
# The empty database that the installation made.
_EMPTY = Path("/var/lib/dbconfig-common/sqlite3/redmine/instances/default/redmine_default")
MANNERS = Manners(
    lists=r"^/(projects(/shore(/(issues|activity|wiki|wiki/(index|date_index)|news|roadmap|search)?)?)?|issues|news"
    r"|activity)?(\?((page|from)=[^&]*&?)*)?$"
)
# Runs in Redmine's environment: issues, pages and news come as JSON.
_FILL = """
require 'json'
ActiveRecord::Base.logger = nil
ActiveJob::Base.queue_adapter = :inline
ActionMailer::Base.perform_deliveries = false
User.current = keeper = User.find_by_login('admin')
project = Project.find_by_identifier('shore')
unless project
  project = Project.new(name: 'Shore', is_public: true, description: 'Notes of the shore')
  project.identifier = 'shore'
  project.enabled_module_names = %w(issue_tracking wiki news)
  project.trackers = Tracker.all
  project.save!
  Wiki.create!(project: project, start_page: 'Wiki') unless project.wiki
  project.reload
end
JSON.parse(STDIN.read).each do |kind, name, text|
  case kind
  when 'wiki'
    page = project.wiki.find_page(name) || WikiPage.new(wiki: project.wiki, title: name)
    content = page.content || WikiContent.new(page: page)
    content.text = text
    content.author = keeper
    page.save_with_content(content) or raise page.errors.full_messages.to_s
  when 'issue'
    Issue.create!(project: project, tracker: Tracker.first, subject: name, description: text, author: keeper,
                  status: IssueStatus.first, priority: IssuePriority.first)
  when 'comment'
    issue = Issue.find_by_subject(name)
    issue.init_journal(keeper, text)
    issue.save!
  when 'gone'
    Issue.find_by_subject(name).destroy
  else
    News.create!(project: project, title: name, description: text, summary: '', author: keeper)
  end
end
"""


def install() -> None:
    need_debian("redmine", "redmine-sqlite", "ruby-sqlite3", "puma")


def fill(site: Site) -> None:
    shutil.copy(_EMPTY, _database(site))
    known = articles(ISSUES + PAGES + NEWS)
    pages = known[ISSUES : ISSUES + PAGES]
    what = [("wiki", "Wiki", "h1. Shore\n\n" + "".join(f"* [[{_name(a)}]]\n" for a in pages))]
    what += [("wiki", _name(a), f"h1. {a.title}\n\n{a.text}\n") for a in pages]
    what += [("issue", a.title, a.text) for a in known[:ISSUES]]
    _run(site, what + [("news", a.title[:60], a.text) for a in known[ISSUES + PAGES :]])


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    puma = ["puma", "-b", f"tcp://127.0.0.1:{site.port}", "-e", "production", "-t", "2:4", "config.ru"]
    return [spawn(site, *puma, environment=_environment(site), cwd=PROGRAM)]


def truth(site: Site) -> list[Item]:
    words = {a.title: a.word for a in articles(ISSUES + PAGES + NEWS + 1)}
    with closing(sqlite3.connect(f"file:{_database(site)}?mode=ro", uri=True)) as db:
        issues = db.execute("SELECT id, subject FROM issues ORDER BY id").fetchall()
        pages = db.execute("SELECT title FROM wiki_pages WHERE title != 'Wiki' ORDER BY title").fetchall()
        news = db.execute("SELECT id, title FROM news ORDER BY id").fetchall()
    shown = [Item((f"{site.url}issues/{id}",), words[subject]) for id, subject in issues]
    shown += [Item((f"{site.url}projects/shore/wiki/{t}",), words[t.replace("_", " ")]) for (t,) in pages]
    return shown + [Item((f"{site.url}news/{id}",), words.get(title, "")) for id, title in news]


def edit(site: Site) -> Edits:
    before = {item.word: item for item in truth(site)}
    known = articles(ISSUES + PAGES + NEWS + 1)
    issues, pages, gone, new = known[:2], known[ISSUES : ISSUES + 3], known[9], known[-1]
    what = [("comment", a.title, "It was seen once more.") for a in issues]
    what += [("wiki", _name(a), f"h1. {a.title}\n\n{a.text}\n\nIt was seen twice more.\n") for a in pages]
    _run(site, [*what, ("gone", gone.title, ""), ("issue", new.title, new.text)])
    after = {item.word: item for item in truth(site)}
    return Edits([before[a.word] for a in (*issues, *pages)], [after[new.word]], [before[gone.word]])


def _name(article: Article) -> str:
    return article.title.replace(" ", "_")


def _database(site: Site) -> Path:
    return site.place / "redmine.db"


def _environment(site: Site) -> dict[str, str]:
    return {
        **os.environ, "RAILS_ENV": "production", "X_DEBIAN_SITEID": "default", "HOME": str(site.place),
        "DATABASE_URL": f"sqlite3:{_database(site)}?timeout=30000", "SECRET_KEY_BASE": "shore" * 12,
    }  # fmt: skip


def _run(site: Site, what: Sequence[tuple[str, str, str]]) -> None:
    program = site.place / "fill.rb"
    program.write_text(_FILL)
    made = subprocess.run(
        ["bin/rails", "runner", str(program)], cwd=PROGRAM, env=_environment(site), input=json.dumps(what),
        text=True, capture_output=True,
    )  # fmt: skip
    if made.returncode:
        raise BenchError(f"Redmine could not be filled: {made.stderr[:500]}")
