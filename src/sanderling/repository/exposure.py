"""What other users of the machine can read of a crawl although it is private."""

import shlex
from pathlib import Path

from sanderling import credentials
from sanderling.repository.folder import Folder
from sanderling.settings import Settings

_OTHERS = 0o077


def exposed(folder: Folder, settings: Settings) -> list[str]:
    """Sentences for the user, each with what to do."""
    found = []
    if settings.login and _others_may(folder.path):
        found.append(
            f"other users of this machine can enter {folder.path}, which holds what you see when you are logged in: "
            f"run `chmod 700 {shlex.quote(str(folder.path))}`"
        )
    if holds_secrets(settings) and _others_may(folder.settings):
        found.append(
            f"other users of this machine can read {folder.settings}, which holds passwords: "
            f"run `chmod 600 {shlex.quote(str(folder.settings))}`"
        )
    return found


def holds_secrets(settings: Settings) -> bool:
    """Whether a password or a token is among the settings, and not kept elsewhere."""
    values = [settings.store, settings.proxy]
    secret = any("@" in value for value in values if value and not credentials.is_reference(value))
    named = [each.to for each in settings.notify] + [to for each in settings.watch for to in each.notify]
    named += [value for each in settings.login for value in (*each.headers.values(), *each.fields.values())]
    named += [each.secret for each in settings.webhook if each.secret]
    named += [token for each in settings.take_at if (token := each.partition("#")[2])]
    return secret or any(not credentials.is_reference(value) for value in named)


def _others_may(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & _OTHERS)
    except OSError:
        return False
