"""HyperKitty of PyPI: the archive of a mailing list, 40 threads of three messages."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from bench.field.application import Edits, Item, Manners, Site, spawn
from bench.field.content import Article, articles
from bench.field.packages import python_with
from bench.places import BenchError

THREADS, REPLIES = 40, 2
LIST = "shore@example.org"
MANNERS = Manners(
    seed="hyperkitty/",
    lists=rf"^/hyperkitty/(list/{LIST}/?(\d{{4}}/\d+/?|latest|threads?/?)?)?(\?page=\d+)?$",
)
_SETTINGS = """
from hyperkitty.tests.settings_test import *
DEBUG = TESTING = False
ALLOWED_HOSTS = ["*"]
DATABASES = {{"default": {{"ENGINE": "django.db.backends.sqlite3", "NAME": {place!r} + "/archive.db"}}}}
HAYSTACK_CONNECTIONS = {{"default": {{"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}}}}
ROOT_URLCONF = "shore_urls"
STATIC_ROOT, STATIC_URL = {place!r} + "/static", "/static/"
COMPRESS_ENABLED, COMPRESS_OFFLINE = True, False
LOGGING = {{}}
Q_CLUSTER = {{"sync": True, "orm": "default", "timeout": 300, "retry": 400}}
MAILMAN_REST_API_URL = "http://127.0.0.1:9"
FILTER_VHOST = False
TIME_ZONE = "UTC"
"""
_URLS = """
from django.conf import settings
from django.urls import include, path, re_path
from django.views.generic import RedirectView
from django.views.static import serve
urlpatterns = [
    path("", RedirectView.as_view(url="/hyperkitty/")),
    path("hyperkitty/", include("hyperkitty.urls")),
    path("mailman3/", include("django_mailman3.urls")),
    path("accounts/", include("allauth.urls")),
    re_path(r"^static/(?P<path>.*)$", serve, {"document_root": settings.STATIC_ROOT}),
]
"""
# Runs in its environment. Messages come as JSON, or as the id of the first of a thread to remove.
_FILL = """
import sys, json, django
django.setup()
from email.message import EmailMessage
from hyperkitty.lib.incoming import add_to_list
from hyperkitty.models import Email, MailingList
for said in json.load(sys.stdin):
    if isinstance(said, str):
        Email.objects.get(message_id=said).thread.delete()
        continue
    message = EmailMessage()
    message.set_content(said.pop("text"))
    for name, value in said.items():
        message[name] = value
    add_to_list("shore@example.org", message)
MailingList.objects.update(archive_policy=2, display_name="Shore", description="Notes of the shore")
"""


def install() -> None:
    _python()


def fill(site: Site) -> None:
    (site.place / "shore_settings.py").write_text(_SETTINGS.format(place=str(site.place)))
    (site.place / "shore_urls.py").write_text(_URLS)
    _run(site, "-m", "django", "migrate")
    _run(site, "-m", "django", "collectstatic", "--noinput")
    _add(site, [message for article in articles(THREADS) for message in _thread(article)])


def start(site: Site) -> Sequence[subprocess.Popen[bytes]]:
    server = ["-m", "gunicorn", "-w", "2", "-b", f"127.0.0.1:{site.port}", "django.core.wsgi:get_wsgi_application()"]
    return [spawn(site, _python(), *server, environment=_environment(site))]


def truth(site: Site) -> list[Item]:
    """All threads, and all messages, each of which has a page of its own, too."""
    with closing(sqlite3.connect(f"file:{site.place}/archive.db?mode=ro", uri=True)) as db:
        threads = db.execute(
            "SELECT t.thread_id, e.subject FROM hyperkitty_thread t JOIN hyperkitty_email e ON t.starting_email_id = e.id"
        ).fetchall()
        messages = db.execute("SELECT message_id_hash FROM hyperkitty_email").fetchall()
    base = f"{site.url}hyperkitty/list/{LIST}"
    shown = [Item((f"{base}/thread/{id}/",), subject.split()[-1]) for id, subject in threads]
    return shown + [Item((f"{base}/message/{hash}/",)) for (hash,) in messages]


def edit(site: Site) -> Edits:
    """Three replies, a new thread, and one that goes."""
    before = {item.urls: item for item in truth(site)}
    threads = {item.word: item for item in before.values() if item.word}
    known = articles(THREADS + 1)
    replies = [_message(articles(1, first=5000 + a.number)[0], 1, "20 Jul 2023 10:00:00 +0000", a) for a in known[:3]]
    _add(site, [*replies, *_thread(known[THREADS]), f"{known[9].word}@example.org"])
    after = {item.urls: item for item in truth(site)}
    return Edits(
        [threads[a.word] for a in known[:3]],
        [item for urls, item in after.items() if urls not in before],
        [item for urls, item in before.items() if urls not in after],
    )


def _thread(article: Article) -> list[dict[str, str]]:
    number = article.number
    month = ("Jan", "Feb", "Mar", "Apr", "May", "Jun")[number % 6]
    when = f"{number % 27 + 1:02} {month} 2023 10:{number % 60:02}:00 +0000"
    replies = articles(REPLIES, first=2000 + number * REPLIES)
    first = _message(article, number % 7, when)
    return [first, *(_message(each, (number + each.number) % 7, when, article) for each in replies)]


def _message(article: Article, who: int, when: str, to: Article | None = None) -> dict[str, str]:
    said = {
        "From": f"Keeper {who} <keeper{who}@example.org>", "Subject": f"Re: {to.title}" if to else article.title,
        "Message-ID": f"<{article.word}@example.org>", "Date": when,
        "text": article.paragraphs[0] if to else article.text,
    }  # fmt: skip
    return said | ({"In-Reply-To": f"<{to.word}@example.org>"} if to else {})


def _add(site: Site, what: Sequence[dict[str, str] | str]) -> None:
    _run(site, "-c", _FILL, said=json.dumps(what))


def _run(site: Site, *arguments: str, said: str = "") -> None:
    command = [str(_python()), *arguments]
    made = subprocess.run(
        command, cwd=site.place, env=_environment(site), input=said, text=True, capture_output=True
    )  # fmt: skip
    if made.returncode:
        raise BenchError(f"HyperKitty could not be filled: {made.stderr[-500:]}")


def _environment(site: Site) -> dict[str, str]:
    return {**os.environ, "DJANGO_SETTINGS_MODULE": "shore_settings", "PYTHONPATH": str(site.place)}


def _python() -> Path:
    return python_with("hyperkitty", "HyperKitty==1.3.12", "django-mailman3==1.3.15", "django-allauth==65.21.1",
                       "Django==5.0.14", "gunicorn")  # fmt: skip
