"""Fragments that name content of their own: routes of applications, and states behind events.

Most fragments name a place on a page and are dropped. Some pages show other content for a fragment
such as `#/start` or `#View:uri=/a`. And a state of a page that is reached by events only is named
by them: `#~click:%23next`.
"""

import re

from sanderling.urls.canonical import WEB, canonical

ROUTE = ("/", "!")
STATE = "~"
# No element is called `View:uri=/a`. Text fragments (`#:~:text=`) only mark words.
_NO_PLACE = re.compile(r"(?!:~:)[^=/]*[=/].*")


def document_of(url: str) -> str:
    """The URL of the document that is asked for."""
    return url.partition("#")[0] if "#" in url else url


def fragment_of(url: str) -> str:
    return url.partition("#")[2]


def is_state(url: str) -> bool:
    """Whether a URL names a state that events lead to."""
    return "#" in url and fragment_of(url).startswith(STATE)


def is_route(fragment: str) -> bool:
    """Whether a fragment looks like a route of an application. Whether it is one, only a browser
    can tell."""
    return fragment.startswith(ROUTE) and len(fragment) > 1


def with_fragment(text: str, schemes: tuple[str, ...] = WEB) -> str | None:
    """The canonical form of a URL that a person names. A fragment stays if it may be content of its
    own."""
    url, fragment = canonical(text, schemes), fragment_of(text.strip())
    if url is None or not (is_route(fragment) or fragment.startswith(STATE) or _NO_PLACE.fullmatch(fragment)):
        return url
    return f"{url}#{fragment}"
