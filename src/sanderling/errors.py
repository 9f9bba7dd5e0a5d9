"""What can go wrong in a way a user can mend; everything else is a bug and keeps its traceback.

SanderlingError
├── UsageError        what was asked cannot be done as asked (exit code 2)
│   ├── BadSeed       a seed that is no URL we can fetch
│   ├── BadSetting    an unknown setting or a value that does not fit
│   └── BadFolder     a folder that is not ours, is damaged or is newer than this program
│       ├── FolderInUse   another process crawls into it right now
│       └── BadIndex      a search index that is damaged, older or of another crawl
│           └── IndexInUse    another process writes to it right now
└── RunFailed         a run that had to stop (exit code 1)
    ├── DiskFull      no room left; what was committed is safe
    └── StoreAway     the database cannot be reached; what was committed is safe
"""


def quoted(text: str) -> str:
    """What somebody wrote, as much of it as it takes to be recognised."""
    return repr(text) if len(text) <= 200 else f"{text[:100]!r}..."


class SanderlingError(Exception):
    """One clear sentence for the user."""


class UsageError(SanderlingError):
    pass


class BadSeed(UsageError):
    pass


class BadSetting(UsageError):
    pass


class BadFolder(UsageError):
    pass


class FolderInUse(BadFolder):
    pass


class BadIndex(BadFolder):
    pass


class IndexInUse(BadIndex):
    pass


class RunFailed(SanderlingError):
    pass


class DiskFull(RunFailed):
    pass


class StoreAway(RunFailed):
    pass
