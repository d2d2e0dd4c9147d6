"""Remove a folder when the process that started this script has ended, in whatever way."""

import shutil
import signal
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    for sent in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sent, signal.SIG_IGN)
    sys.stdin.read()  # until the other end is closed
    for _ in range(100):  # what still runs ends meanwhile
        shutil.rmtree(sys.argv[1], ignore_errors=True)
        if not Path(sys.argv[1]).exists():
            break
        time.sleep(0.1)
