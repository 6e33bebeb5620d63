"""How much of cooking a file is linking its requests: python bench/lineage.py FILE prints both CPU times as JSON.

Cooking is reading and linking; start-up and writing are left out, so the share is the largest that can be told.
"""

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
    link(cooked.requests, cooked.messages, {}, set())  # once more, alone
    json.dump({"cook_cpu": cooking, "link_cpu": time.process_time() - begin}, sys.stdout)


if __name__ == "__main__":
    main()
