"""What browsers and other proxies save of a conversation over HTTP, entry by entry of a HAR file.

{"startedDateTime": …, "time": ms, "request": {"method", "url", "headers": [{"name", "value"}], "postData": {"text"}},
 "response": {"status", "content": {"text", "encoding": "base64"?}}}
"""

import binascii
from base64 import b64decode
from typing import Any

from unspool.ingest.envelope import Envelope, is_text_of_call, plain
from unspool.sources.values import listing, mapping


def is_entry(envelope: Envelope) -> bool:
    return "startedDateTime" in envelope and isinstance(envelope.get("request"), dict)


def as_recorded(entry: Envelope) -> Envelope:
    """The entry as recorders keep calls. Headers and queries hold keys, so of these only the client's name is kept."""
    request, response = mapping(plain(entry["request"])), mapping(plain(entry.get("response")))
    headers = map(mapping, listing(request.get("headers")))
    client = next((each.get("value") for each in headers if str(each.get("name")).lower() == "user-agent"), None)
    sent = mapping(request.get("postData")).get("text")
    recorded: dict[str, Any] = {
        "timestamp": plain(entry["startedDateTime"]),
        "duration_ms": plain(entry.get("time")),
        "user_agent": client,
        "method": request.get("method"),
        "url": str(request.get("url")).partition("?")[0],
        "request": {"body": sent} if is_text_of_call(sent) else None,  # a page sends much else
        "response": {"status": response.get("status") or None, "body": _text(mapping(response.get("content")))},
    }
    return {key: value for key, value in recorded.items() if value is not None or key == "request"}


def _text(content: dict[str, Any]) -> Any:
    text = content.get("text")
    if content.get("encoding") != "base64" or not isinstance(text, str):
        return text
    try:
        return b64decode(text).decode("utf-8", "replace")
    except binascii.Error:
        return text
