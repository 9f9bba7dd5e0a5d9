"""The command line."""
import sys
from pathlib import Path
from sanderling.wiring import CrawlServer
from sanderling.repository.folder import Folder
from sanderling.settings import Settings
def main() -> int:
    f=Folder(Path(sys.argv[2]))
    s=CrawlServer(f, Settings(per_host=32,delay=0.0,ignore_robots=True,allow_private=True), [sys.argv[1]], int(sys.argv[3]))
    p=s.run(lambda p: print(p, file=sys.stderr), lambda: False)
    print(p); s.close()
    return 0
