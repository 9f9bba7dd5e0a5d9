"""Errors that a user can fix. Any other exception is a bug and keeps its traceback.

SanderlingError
├── UsageError        the request itself is wrong (exit code 2)
│   ├── BadSeed       a seed that is not a URL we can fetch
│   ├── BadSetting    an unknown setting or a wrong value
│   ├── BadFolder     a folder that is not a crawl, is empty or is of another version
│   └── BadTopic      a topic without examples, or a model that cannot be used
└── RunFailed         the request is right but failed this time (exit code 1)
    ├── NothingFetched  no seed of a crawl could be fetched
    ├── FolderInUse   another process is using the folder
    ├── Damaged       a database or an archive that cannot be read
    ├── BadIndex      a search index that is damaged, older or of another crawl
    │   └── IndexInUse    another process is writing to it
    ├── DiskFull      no room left; what was committed is safe
    │   └── DiskFails     a disk that cannot be written for another reason
    ├── ArchiveAway   the object storage of the archives cannot be reached; nothing is lost
    └── StoreAway     the database cannot be reached; what was committed is safe
        └── StoreLost     the state of the crawl was dropped or replaced while it ran
"""


def quoted(text: str) -> str:
    """Quotes user input in a message. Long input is cut."""
    return repr(text) if len(text) <= 200 else f"{text[:100]!r}..."


class SanderlingError(Exception):
    """Its message is one clear sentence for the user."""


class UsageError(SanderlingError):
    pass


class BadSeed(UsageError):
    pass


class BadSetting(UsageError):
    pass


class BadFolder(UsageError):
    pass


class BadTopic(UsageError):
    pass


class RunFailed(SanderlingError):
    pass


class NothingFetched(RunFailed):
    pass


class FolderInUse(RunFailed):
    pass


class Damaged(RunFailed):
    pass


class BadIndex(RunFailed):
    pass


class IndexInUse(BadIndex):
    pass


class DiskFull(RunFailed):
    pass


class DiskFails(DiskFull):
    pass


class ArchiveAway(RunFailed):
    pass


class StoreAway(RunFailed):
    pass


class StoreLost(StoreAway):
    pass
