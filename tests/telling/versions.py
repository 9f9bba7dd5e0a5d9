"""Versions as a store returns them."""

from sanderling.model import ChangeKind, VersionRow


def version(
    number: int,
    url: str = "http://e.org/",
    kinds: ChangeKind = ChangeKind.TEXT,
    significance: float = 0.5,
    **more: object,
) -> VersionRow:
    facts: dict[str, object] = {
        "at": 1_700_000_000.0 + number, "status": 200, "degree": "", "summary": f"change {number}", "news": True,
        "digest": "", "size": 10, "mime": "text/html", "warc": "a", "offset": number, "length": 1, "title": "", **more,
    }  # fmt: skip
    return VersionRow(number=number, url=url, kinds=kinds, significance=significance, **facts)  # type: ignore[arg-type]
