"""What can go wrong in a way a user can mend; everything else is a bug and keeps its traceback.

SanderlingError
├── UsageError        what was asked can never be done as asked (exit code 2)
│   ├── BadSeed       a seed that is no URL we can fetch
│   ├── BadSetting    an unknown setting or a value that does not fit
│   └── BadFolder     a folder that is not ours, is empty or is of another version of this program
└── RunFailed         what was asked could not be done as things stand (exit code 1)
    ├── FolderInUse   another process crawls into the folder right now
    ├── Damaged       a database or an archive that cannot be read
    ├── BadIndex      a search index that is damaged, older or of another crawl
    │   └── IndexInUse    another process writes to it right now
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


class RunFailed(SanderlingError):
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


class StoreAway(RunFailed):
    pass
