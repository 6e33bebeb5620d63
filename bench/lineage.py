"""How much of cooking a file is linking its requests: python bench/lineage.py FILE prints both CPU times as JSON."""

import gc
import json
import sys
import time

from unspool.jobs import cook as job
from unspool.model import CookedMessage, CookedRequest

_link = job.link
_spent = 0.0


def _timed_link(requests: list[CookedRequest], messages: list[CookedMessage], previous: dict[str, str]) -> None:
    global _spent  # noqa: PLW0603
    begin = time.process_time()
    _link(requests, messages, previous)
    _spent += time.process_time() - begin


def main() -> None:
    gc.disable()  # as the command does
    job.link = _timed_link
    begin = time.process_time()
    job.cook(sys.argv[1])
    json.dump({"cook_cpu": time.process_time() - begin, "link_cpu": _spent}, sys.stdout)


if __name__ == "__main__":
    main()
