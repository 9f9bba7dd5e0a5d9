import sys

from sanderling_announce.command import main

if __name__ == "__main__":
    sys.exit(main())
