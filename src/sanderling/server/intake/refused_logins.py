"""Logins that a site refused. They are not tried again, because many sites lock an account after a
few wrong passwords.

What is remembered is a short digest of the recipe as the user wrote it, never of a secret that is
kept elsewhere.
"""

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

import msgspec

from sanderling.credentials import file_of
from sanderling.model.reasons import code_of, reason, sentence
from sanderling.repository.store import Notes
from sanderling.settings import Login, Settings
from sanderling.urls import origin

REFUSED = "login-refused"


def refused(store: Notes, settings: Settings) -> dict[str, str]:
    """Why some logins are not to be tried, by origin. `settings` are as written."""
    found = {}
    for login in settings.login:
        mark, _, why = store.noted(_key(login.place)).partition(" ")
        if mark == _mark(login):
            found[login.place] = reason("login-not-tried", why)
    return found


def notes_of(settings: Settings, failures: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What is to be remembered of pages that failed, by URL and reason."""
    logins = {login.place: login for login in settings.login}
    whys = {origin(url): sentence(why) for url, why in failures if code_of(why) == REFUSED}
    return {_key(place): f"{_mark(logins[place])} {why}" for place, why in whys.items() if place in logins}


def forget(store: Notes, settings: Settings) -> None:
    for login in settings.login:
        if store.noted(_key(login.place)):
            store.note(_key(login.place), "")


def _key(place: str) -> str:
    return f"login {place}"


def _mark(login: Login) -> str:
    """Differs when the user changed something. It is so short that it does not give away a password
    that is part of the recipe."""
    written = [_written(value) for value in (*login.fields.values(), *login.headers.values(), login.cookies)]
    return blake2b(msgspec.json.encode((login, written)), digest_size=2).hexdigest()


def _written(value: str) -> int:
    """When the file with a secret was written; 0 if it is in none."""
    path = file_of(value)
    try:
        return Path(path).stat().st_mtime_ns if path else 0
    except OSError:
        return 0
