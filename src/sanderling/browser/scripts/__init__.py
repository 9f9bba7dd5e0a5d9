"""JavaScript that the browser runs inside rendered pages."""

from functools import cache
from importlib.resources import files


@cache
def script(name: str) -> str:
    """The text of a script."""
    return files(__name__).joinpath(f"{name}.js").read_text("utf-8")
