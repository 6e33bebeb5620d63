"""Names of models: whether two of them mean the same model."""

import re
from functools import lru_cache

_VENDOR = re.compile(r"(?:[a-z]{2,6}\.)?(?:ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen|writer)\.")
"""Prefix of Bedrock's names: an optional region, then the vendor."""
_REVISION = re.compile(r"-v\d+(?::\d+)?$")
"""How Bedrock ends a name."""
_SNAPSHOT = re.compile(r"[-@](latest|\d{4}-\d\d-\d\d|\d\d-\d{4}|\d{8}|\d{4}|00\d)$")
"""Suffix of a snapshot's name: a date, or a number with leading zeros."""
_LATEST = "latest"


def same_model(first: str | None, second: str | None) -> bool:
    """Return whether two names may mean the same model. A name that is not known may mean any.

    A provider's prefix does not count (`openai/gpt-x`, `us.anthropic.claude-x-v1:0`). A dated snapshot is the model
    that the name without a date means, but no other snapshot of it.
    """
    if first is None or second is None or first == second:
        return True
    (name, snapshot), (other_name, other_snapshot) = _parts(first), _parts(second)
    return name == other_name and (not snapshot or not other_snapshot or snapshot == other_snapshot)


@lru_cache(1024)
def _parts(model: str) -> tuple[str, str]:
    """Return the name without prefix and date, and the digits of the date."""
    name = model.casefold().rpartition("/")[2]
    if prefix := _VENDOR.match(name):
        name = _REVISION.sub("", name[prefix.end() :])
    snapshot = _SNAPSHOT.search(name)
    if snapshot is None:
        return name, ""
    date = "" if snapshot[1] == _LATEST else snapshot[1].replace("-", "")
    return name[: snapshot.start()], date
