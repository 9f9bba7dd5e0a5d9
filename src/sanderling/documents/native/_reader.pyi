REVISION: int

def read(
    page: bytes, window: int, /
) -> (
    tuple[str, str | None, str | None, list[str], list[tuple[str, dict[str, str]]], bytes, bytes, str | None, bool]
    | str
): ...
def text_between(page: bytes, start: int, end: int, /) -> str: ...
