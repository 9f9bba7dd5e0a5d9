"""What capture indexes add to the URL of a request that is no GET, so that its answer is found
again: the method, and the body as a query. The rules are those that pywb and other tools share."""

import base64
import json
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import unquote_plus, urlencode

from sanderling.repository import warc

LONGEST_QUERY = 4096


def url_of_request(url: str, request: bytes) -> str:
    """The URL to make a key of. `request` is an uncompressed WARC record."""
    _, _, block = request.partition(b"\r\n\r\n")
    head, _, body = block.partition(b"\r\n\r\n")
    method = head.partition(b" ")[0].upper()
    if not method.isalpha() or method == b"GET":
        return url
    length = int(warc.fields_of(request).get("content-length") or 0)
    body = body[: max(0, length - len(head) - 4)]
    mime = next((line.partition(b":")[2].strip() for line in head.split(b"\r\n") if line.lower().startswith(b"content-type:")), b"")  # fmt: skip
    query = _query(mime.decode("latin-1"), body)[:LONGEST_QUERY] if method in (b"POST", b"PUT") else ""
    added = f"__wb_method={method.decode()}" + (f"&{query}" if query else "")
    return f"{url}{'&' if '?' in url else '?'}{added}"


def _query(mime: str, body: bytes) -> str:
    if not body:
        return ""
    if mime.startswith("application/x-www-form-urlencoded"):
        try:
            return unquote_plus(body.decode())
        except UnicodeDecodeError:
            return _binary(body)
    if mime.startswith("multipart/") and "boundary=" in mime:
        return _parts(mime, body)
    if mime.startswith(("application/json", "text/plain")):
        try:
            return urlencode(_flat(_json(body)))
        except (ValueError, RecursionError):
            return _binary(body) if mime.startswith("text/plain") else ""
    return _binary(body)


def _binary(body: bytes) -> str:
    return "__wb_post_data=" + base64.b64encode(body).decode()


def _parts(mime: str, body: bytes) -> str:
    message = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {mime}\r\n\r\n".encode("latin-1") + body)
    if not message.is_multipart():
        return _binary(body)
    fields = []
    for part in message.iter_parts():
        content = part.get_payload(decode=True)
        named = part.get_param("name", header="content-disposition")
        if named is not None and isinstance(content, bytes):
            fields.append((str(named), content if part.get_filename() else content.decode("utf-8", "replace")))
    return urlencode(fields)


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        if b"\n" not in body:
            raise
        return [json.loads(line) for line in body.split(b"\n")]


def _flat(value: Any) -> dict[str, str]:
    """Names and values at all depths; a name that comes again gets a number."""
    found: dict[str, str] = {}
    times: dict[str, int] = {}
    waiting = [("", value)]
    while waiting:
        name, each = waiting.pop()
        if isinstance(each, dict):
            waiting += reversed(each.items())
        elif isinstance(each, list):
            waiting += [(name, item) for item in reversed(each)]
        elif name:
            times[name] = times.get(name, 0) + 1
            found[name if times[name] == 1 else f"{name}.{times[name]}_"] = _as_script_writes(each)
    return found


def _as_script_writes(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
