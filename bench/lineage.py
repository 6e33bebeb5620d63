"""How much of cooking a file is linking its requests: python bench/lineage.py FILE prints both CPU times as JSON.

Cooking is all that the command does: start of the interpreter, reading, linking, encoding.
"""

import gc
import json
import os
import sys
import time

from unspool.exports.cooked import encode
from unspool.graph.linking import link
from unspool.jobs.cook import cook


def main() -> None:
    gc.disable()  # as the command does
    cooked = cook(sys.argv[1])
    with open(os.devnull, "wb") as nowhere:
        nowhere.writelines(encode(cooked))
    cooking = time.process_time()
    begin = time.process_time()
    link(cooked.requests, cooked.messages, {}, set())  # once more, alone
    json.dump({"cook_cpu": cooking, "link_cpu": time.process_time() - begin}, sys.stdout)


if __name__ == "__main__":
    main()
