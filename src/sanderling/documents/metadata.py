"""What a page says about itself for machines."""

from typing import Any

from msgspec import Struct

from sanderling.documents.tree import Document, MicrodataItem
from sanderling.urls import join

_OPEN_GRAPH = ("og:", "twitter:", "article:")


class Metadata(Struct, frozen=True, kw_only=True):
    """JSON-LD, Open Graph, microdata and meta elements of a page."""

    json_ld: list[Any] = []
    opengraph: dict[str, str] = {}  # og:, twitter: and article: names with their values
    microdata: list[dict[str, Any]] = []  # type, id and properties of each item
    meta: dict[str, str] = {}  # the other meta elements, by their names in lower case
    canonical: str = ""


def metadata_of(document: Document, url: str) -> Metadata:
    """The metadata of a page at a URL. The first of several values with the same name counts."""
    base, graph, meta, canonical = document.base_url(url), dict[str, str](), dict[str, str](), ""
    for element in document.iter_elements(("meta", "link")):
        if element.tag == "link":
            if not canonical and "canonical" in (element.attr("rel") or "").lower().split():
                canonical = join(base, element.attr("href") or "") or ""
            continue
        name = (element.attr("property") or element.attr("name") or "").strip().lower()
        value = element.attr("content")
        if name and value is not None:
            (graph if name.startswith(_OPEN_GRAPH) else meta).setdefault(name, value.strip())
    return Metadata(
        json_ld=document.json_ld(), opengraph=graph, microdata=[*map(_as_table, document.microdata())], meta=meta,
        canonical=canonical,
    )  # fmt: skip


def _as_table(item: MicrodataItem) -> dict[str, Any]:
    properties = {
        name: [_as_table(value) if isinstance(value, MicrodataItem) else value for value in values]
        for name, values in item.properties.items()
    }
    return {"type": item.type or "", "id": item.id or "", "properties": properties}
