"""Reads what other programs watch: the YAML of urlwatch and webchanges, and the export of
changedetection.io. What they know and a watch does not is named."""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from sanderling.errors import UsageError

MOST_BYTES = 64 << 20
# What a filter of urlwatch and webchanges becomes. Text is always compared as it is read.
_SELECTS: dict[str, Callable[[str], str]] = {
    "css": str,
    "xpath": lambda text: text if text.startswith(("/", "(/")) else f"xpath:{text}",
    "element-by-id": lambda text: f'[id="{text}"]',
    "element-by-class": lambda text: f'[class~="{text}"]',
    "element-by-tag": str,
}
_LINES = {"grep": "keep_text", "grepi": "ignore_text"}
_LINES |= {"keep_lines_containing": "keep_text", "delete_lines_containing": "ignore_text"}
_NOT_NEEDED = ("html2text", "pdf2text", "strip", "strip_each_line", "strip_empty_lines", "remove_repeated", "beautify")
_UNITS = {"weeks": 604800, "days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}


class ImportedWatch(NamedTuple):
    """A watch of another program: its page, the facts of a watch, and what was left out."""

    url: str
    given: dict[str, Any]
    omitted: list[str]


def watches_in(data: bytes) -> list[ImportedWatch]:
    """The watches in a file."""
    if zipfile.is_zipfile(io.BytesIO(data)):
        return _of_backup(data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("the file is neither text nor a backup of changedetection.io") from None
    if text.lstrip().startswith("{"):
        return _of_export(_json(text))
    return _of_yaml(text)


# ---- changedetection.io


def _of_backup(data: bytes) -> list[ImportedWatch]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sizes = {each.filename: each.file_size for each in archive.infolist()}
        named = [
            name
            for name in sizes
            if name.rpartition("/")[2] in ("url-watches.json", "changedetection.json", "watch.json")
        ]
        if sum(sizes[name] for name in named) > MOST_BYTES:
            raise UsageError("the backup is too large")
        tables = {name: _json(archive.read(name).decode("utf-8", "replace")) for name in named}
    whole: dict[str, Any] = {"watching": {}}
    for name, table in tables.items():
        if name.endswith("watch.json"):
            whole["watching"][name] = table
        else:
            whole |= {**table, "watching": {**whole["watching"], **(table.get("watching") or {})}}
    return _of_export(whole)


def _of_export(table: Any) -> list[ImportedWatch]:
    watching = table.get("watching") if isinstance(table, dict) else None
    if not isinstance(watching, dict):
        raise UsageError("the file has no watches of changedetection.io")
    tags = ((table.get("settings") or {}).get("application") or {}).get("tags") or {}
    titles = {uuid: tag.get("title", "") for uuid, tag in tags.items() if isinstance(tag, dict)}
    return [_of_watch(each, titles) for each in watching.values() if isinstance(each, dict) and each.get("url")]


def _of_watch(watch: Mapping[str, Any], titles: Mapping[str, str]) -> ImportedWatch:
    omitted: list[str] = []
    clicks = []
    for step in watch.get("browser_steps") or ():
        operation = step.get("operation", "")
        if operation.startswith("Click element") and step.get("selector"):
            clicks.append(step["selector"])
        elif operation not in ("", "Choose one", "Goto site"):
            omitted.append(f"the step {operation!r}")
    select = []
    for each in watch.get("include_filters") or ():
        if each.startswith(("jq:", "jqraw:")):
            omitted.append(each)
        elif each.strip():
            select.append(each.replace("xpath1:", "xpath:", 1))
    if watch.get("webdriver_js_execute_code"):
        omitted.append("its script: put it into a file, for --script")
    tags = watch.get("tags") or ()
    seconds = sum(
        _UNITS[unit] * (count or 0) for unit, count in (watch.get("time_between_check") or {}).items() if unit in _UNITS
    )
    given = {
        "select": select,
        "ignore": [each for each in watch.get("subtractive_selectors") or () if each.strip()],
        "keep_text": _patterns(watch.get("extract_text")),
        "ignore_text": _patterns(watch.get("ignore_text")),
        "must": _patterns(watch.get("trigger_text")),
        "must_not": _patterns(watch.get("text_should_not_be_present")),
        "click": clicks,
        "every": f"{seconds}s" if seconds and not watch.get("time_between_check_use_default") else "",
        "title": watch.get("title") or "",
        "tags": [titles.get(each, each) for each in (tags if isinstance(tags, list) else [])],
        "notify": list(watch.get("notification_urls") or ()),
        "paused": bool(watch.get("paused")),
    }  # fmt: skip
    return ImportedWatch(watch["url"], _filled(given), omitted)


def _patterns(texts: Any) -> list[str]:
    """Its texts, which ignore case, or are patterns between slashes."""
    found = []
    for text in texts or ():
        pattern = re.fullmatch(r"/(.*)/([a-z]*)", text, re.DOTALL)
        if pattern is not None:
            found.append(("(?i)" if "i" in pattern[2] else "") + pattern[1])
        elif text.strip():
            found.append("(?i)" + re.escape(text.strip()))
    return found


# ---- urlwatch and webchanges


def _of_yaml(text: str) -> list[ImportedWatch]:
    import yaml  # late: only an import needs it

    try:
        jobs = [each for each in yaml.safe_load_all(text) if each is not None]
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"the file is not valid YAML: {' '.join(str(error).split())[:200]}") from None
    if not jobs or not all(isinstance(job, dict) for job in jobs):
        raise UsageError("the file has no jobs of urlwatch or webchanges, and no watches of changedetection.io")
    return [_of_job(job) for job in jobs]


def _of_job(job: Mapping[str, Any]) -> ImportedWatch:
    url = str(job.get("url") or job.get("navigate") or "")
    given: dict[str, Any] = {"select": [], "ignore": [], "keep_text": [], "ignore_text": []}
    omitted = [] if url else [f"`{job.get('command') or job.get('name') or 'a job'}`: it has no URL"]
    for name, value in _filters(job.get("filter") or job.get("filters") or ()):
        if name in _SELECTS and (selector := _selector(value)):
            given["select"].append(_SELECTS[name](selector))
            excluded = value.get("exclude") if isinstance(value, dict) else None
            given["ignore"] += [_SELECTS[name](excluded)] if excluded else []
        elif name in _LINES and (pattern := _line(value)):
            given[_LINES[name]].append(pattern)
        elif name not in _NOT_NEEDED:
            omitted.append(f"the filter {name}")
    if wait := job.get("wait_for_selector"):
        given["wait_for"] = [wait if isinstance(wait, str) else str(wait.get("selector", ""))]
    given |= {"title": str(job.get("name") or ""), "tags": _listed(job.get("tags"))}
    omitted += [f"{name}" for name in ("data", "cookies", "headers", "method") if job.get(name)]
    return ImportedWatch(url, _filled(given), omitted)


def _filters(value: Any) -> Iterable[tuple[str, Any]]:
    """Filters by name: a list of names and tables, or one line as old versions write it."""
    if isinstance(value, str):
        value = [{part.partition(":")[0]: part.partition(":")[2]} if ":" in part else part for part in value.split(",")]
    for each in value:
        if isinstance(each, dict):
            yield from ((str(name), what) for name, what in each.items())
        else:
            yield str(each), None


def _selector(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("selector") or value.get("path") or value.get("id") or value.get("class") or value.get("tag")
    return str(value or "")


def _line(value: Any) -> str:
    if isinstance(value, dict):
        return re.escape(str(value["text"])) if value.get("text") else str(value.get("re") or "")
    return str(value or "")


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) and value else [str(each) for each in value or ()]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the file is not valid JSON: {error}") from None


def _filled(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value}
