"""Plans that are written as text: a line an item, with a box before it.

- [x] done        1. [completed] done        [-] being done        [ ] to do
"""

import re

from unspool.model.action import PlanItem

_ITEM = re.compile(r"^[ \t]*+(?:(?:[-*+]|\d++[.)])[ \t]*+)?\[([^\]\n]*+)\][ \t]*+(\S.*+)", re.MULTILINE)
_MARKS = {"": "pending", "x": "completed", "X": "completed", "-": "in_progress", "~": "in_progress"}


def items_of(text: str) -> tuple[PlanItem, ...]:
    """Its items, in order: none if it has no boxes. A word in a box is the status itself."""
    found = [(match[1].strip(), match[2].rstrip()) for match in _ITEM.finditer(text)]
    return tuple([PlanItem(item, _MARKS.get(box, box)) for box, item in found])
