"""Where a crawl's state lives when it is not in the folder: a database address, and the namespace
of the crawl in it.

One database may hold many crawls: each has its own schema, in PostgreSQL's sense of the word. Its
name is what the address gives as search path (`postgresql://host/db?options=-csearch_path%3Dnews`),
or else it is made up from the folder's name when the crawl is made. The address in
`sanderling.toml` carries it from then on, so that the folder can be moved and renamed.
"""

import re
import secrets
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode

from sanderling import credentials
from sanderling.errors import BadSetting
from sanderling.settings import read_value

_SEARCH_PATH = re.compile(r"-c\s*search_path=(\S+)")


def resolved(store: str) -> str:
    """An address that may be kept elsewhere, such as `env:NAME?options=-csearch_path%3Dnews`."""
    place, _, query = store.partition("?")
    if not credentials.is_reference(place):
        return store
    found: str = read_value("store", credentials.revealed("store", place))
    return _with_options(found, dict(parse_qsl(query)).get("options", ""))


def namespace(store: str) -> str:
    """The namespace that an address names; empty when it names none."""
    found = _SEARCH_PATH.search(dict(_parameters(store)).get("options", ""))
    name = found[1] if found else ""
    if name and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,47}", name):
        raise BadSetting(f"the search path {name!r} in the address of the store is not one plain name")
    return name


def located(store: str | None, folder: Path) -> str | None:
    """An address with the namespace of a new crawl in it; None when the state lives in the
    folder."""
    if not store:
        return None
    if namespace(resolved(store)):
        return store
    readable = re.sub(r"[^a-z0-9]+", "_", folder.absolute().name.lower()).strip("_")[:30]
    name = f"crawl_{readable}_{secrets.token_hex(4)}"
    return _with_options(store, f"-csearch_path={name}")


def same(store: str | None, other: str | None) -> bool:
    """Whether two addresses mean one place; what only one of them says about the namespace does not
    count."""
    if not store or not other:
        return not store and not other
    store, other = resolved(store), resolved(other)
    names = {name for name in (namespace(store), namespace(other)) if name}
    return len(names) < 2 and _without_options(store) == _without_options(other)


def without_password(store: str | None) -> str:
    """An address for people to read: without its password."""
    return re.sub(r"(?<=://)([^:@/]*):[^@/]*@", r"\1@", (store or "").partition("?")[0])


def _with_options(store: str, options: str) -> str:
    if not options:
        return store
    query = dict(_parameters(store))
    query["options"] = f"{query.get('options', '')} {options}".strip()
    return f"{store.partition('?')[0]}?{urlencode(query, quote_via=quote, safe='/')}"


def _parameters(store: str) -> list[tuple[str, str]]:
    return parse_qsl(store.partition("?")[2])


def _without_options(store: str) -> tuple[str, frozenset[tuple[str, str]]]:
    place = re.sub(r"://([^@/]*@)?", "://", store.partition("?")[0])
    return place, frozenset((key, value) for key, value in _parameters(store) if key != "options")
