"""What Copilot CLI shows the model beside a text: files, pictures and places, as text."""

from typing import Any

from unspool.sources.values import count, mapping, placeholder, string, text_of


def attached(attachment: Any) -> str:
    match attachment:
        case {"data": str(data)}:
            kind = string(attachment.get("mimeType"))
            return placeholder(_medium(kind), kind, data)
        case {"path": str(place)} | {"filePath": str(place)} | {"url": str(place)}:
            return f"[file: {place}]"
        case {"byteLength": int(), "mimeType": str(kind)}:  # its bytes stand elsewhere, or were too many
            return picture({**attachment, "type": _medium(kind)})
        case {"displayName": str(name)} | {"title": str(name)}:
            return f"[file: {name}]"
    return text_of(attachment)


def picture(given: Any) -> str:
    """What the model was shown beside the text: in the log, beside it, or left out of it for its size."""
    told = mapping(given)
    medium, media_type = string(told.get("type")) or "file", string(told.get("mimeType"))
    if size := count(told.get("byteLength")):
        return f"[{medium}: {media_type}, {size:,} bytes]"
    return placeholder(medium, media_type, told.get("data"))


def _medium(kind: str | None) -> str:
    return "image" if kind and kind.startswith("image/") else "file"
