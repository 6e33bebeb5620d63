"""How much of cooking a file is linking its requests: python bench/lineage.py FILE prints both CPU times as JSON."""

import gc
import json
import sys
import time

from unspool.graph.linking import link
from unspool.jobs.cook import cook


def main() -> None:
    gc.disable()  # as the command does
    begin = time.process_time()
    cooked = cook(sys.argv[1])
    cooking = time.process_time() - begin
    begin = time.process_time()
    link(cooked.requests, cooked.messages, {})  # once more, alone
    json.dump({"cook_cpu": cooking, "link_cpu": time.process_time() - begin}, sys.stdout)


if __name__ == "__main__":
    main()
