"""Files that stand in OpenCode's messages, as text."""

from pathlib import Path
from typing import Any

from unspool.sources.storage import noticed
from unspool.sources.values import mapping, placeholder, string, text_of


def medium(part: dict[str, Any]) -> str:
    kind = text_of(part.get("mime"))
    if kind.startswith(("image/", "audio/", "video/")):
        return kind.partition("/")[0]
    return "document" if kind == "application/pdf" else "file"


def attached(value: Any) -> str:
    """A file by what it is and how big, or by its name where it was only named."""
    part = mapping(value)
    if isinstance(inside := part.get("data"), str):
        return placeholder(medium(part), string(part.get("mime")), inside)
    head, _, data = text_of(part.get("url") or part.get("uri")).partition(";base64,")
    if head.startswith("data:"):
        return placeholder(medium(part), string(part.get("mime")), data)
    return placeholder(medium(part), string(part.get("filename") or part.get("name")) or head or None, None)


def whole_output(folder: Path | None, named: Any) -> str | None:
    """Return the output that was too long for the log, from the file that OpenCode keeps it in."""
    name = Path(named).name if isinstance(named, str) else ""
    try:
        return noticed(folder / name).read_text("utf-8", "replace") if folder and name else None
    except (OSError, ValueError):
        return None
