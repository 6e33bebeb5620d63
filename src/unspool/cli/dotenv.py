"""Files of variables: `NAME=value` lines, as many programs read them."""

import re

from unspool.errors import InputNotFound

_VARIABLE = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$")


def variables_in(path: str) -> dict[str, str]:
    """What is quoted is taken as it is; else what stands behind a blank and # is a comment. Nothing is expanded."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise InputNotFound(f"{path}: {error.strerror}") from error
    found = {}
    for line in lines:
        if not line.lstrip().startswith("#") and (match := _VARIABLE.match(line)):
            name, value = match.groups()
            if len(value) > 1 and value[0] in "'\"" and (end := value.find(value[0], 1)) > 0:
                value = value[1:end]
            else:
                value = re.split(r"\s#", value, maxsplit=1)[0].rstrip()
            found[name] = value
    return found
