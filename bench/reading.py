"""Read agents' logs into events, one file after another: python bench/reading.py FOLDER prints how many there were."""

import gc
import os
import sys

from unspool.ingest.logs import open_log
from unspool.model import Note


def main() -> None:
    gc.disable()  # as the commands do
    events = 0
    for entry in sorted(os.scandir(sys.argv[1]), key=lambda entry: entry.name):
        log = open_log(entry.path)
        if log is None:
            sys.exit(f"{entry.path}: no agent's log that we know")
        for item in log:
            if type(item) is Note:  # then it is not a log as agents write it that is measured
                sys.exit(f"{entry.path}: {item.kind}: {item.reason}, line {item.origin.line}")
            events += 1
    print(events)


if __name__ == "__main__":
    main()
