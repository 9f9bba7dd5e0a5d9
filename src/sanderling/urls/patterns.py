"""Patterns that users write. RE2 runs in linear time, so no pattern and no URL can make a process
hang."""

import re2

from sanderling.errors import BadSetting, quoted


def pattern(text: str) -> "re2._Regexp":
    """A pattern to search URLs with; BadSetting says what is wrong with it."""
    options = re2.Options()
    options.log_errors = False  # the user is told by us
    try:
        return re2.compile(text, options)
    except re2.error as error:
        detail = error.args[0].decode() if isinstance(error.args[0], bytes) else error
        raise BadSetting(f"{quoted(text)} is not a valid pattern: {str(detail)[:100]}") from None
