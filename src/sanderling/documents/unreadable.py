"""What a parser raises for a page that it cannot read."""

from typing import Final

# A page that breaks a parser, or needs more memory than its process may take, is kept unread. It
# must not end a process.
UNREADABLE: Final = (ValueError, TypeError, LookupError, MemoryError, RecursionError, AttributeError)
