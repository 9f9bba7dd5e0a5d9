"""What the user can put right. The message is one clear sentence."""


class WrongUse(Exception):
    """The request itself is wrong."""


class CannotAnnounce(Exception):
    """The request is right and failed this time."""


class NoReportFile(ValueError):
    """A file of the report is not what was written."""


def quoted(text: str) -> str:
    """Quotes user input in a message. Long input is cut."""
    return repr(text) if len(text) <= 200 else f"{text[:100]!r}..."
