"""The result of a command as one JSON value, in which what means the same is equal."""

import json
from typing import Any

from against.compare import align


def comparable(old: dict[str, Any], new: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return both results with decoded JSON. Numbers of cooked messages are made the same on both sides."""
    values = [
        {
            "exit_status": result["exit_status"],
            "error": result["error"],
            "stdout": _lines_or_document(result["stdout"]),
            "files": _folders(result["files"]),
        }
        for result in (old, new)
    ]
    if all(_is_graph(value["stdout"]) for value in values):
        values[1]["stdout"] = _renumbered(values[0]["stdout"], values[1]["stdout"])
    return values[0], values[1]


def _folders(files: dict[str, str]) -> dict[str, Any]:
    """Return the files as nested objects, each with its lines, or its document if it is JSON."""
    root: dict[str, Any] = {}
    for name, text in files.items():
        *folders, last = name.split("/")
        place = root
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = _lines_or_document(text)
    return root


def _lines_or_document(text: str) -> Any:
    """Return what each line holds, if each is JSON; else the document that the text is; else the lines as texts."""
    lines = text.split("\n")
    try:
        values = [json.loads(line) for line in lines if line]
    except ValueError:
        pass
    else:
        return values[0] if len(values) == 1 and _is_graph(values[0]) else values
    try:
        return json.loads(text)
    except ValueError:
        return lines


def _is_graph(value: Any) -> bool:
    return isinstance(value, dict) and {"messages", "tools", "requests"} <= value.keys()


def _renumbered(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the new graph with the ids of the old one, so that one message more does not change all that follow."""
    messages = _new_ids(old["messages"], new["messages"])
    tools = _new_ids(old["tools"], new["tools"])
    requests = [
        {
            **request,
            "request_messages": [messages.get(name, name) for name in request["request_messages"]],
            "response_messages": [messages.get(name, name) for name in request["response_messages"]],
            "tools": [tools.get(name, name) for name in request["tools"]],
        }
        for request in new["requests"]
    ]
    return {
        **new,
        "messages": [{**message, "id": messages[message["id"]]} for message in new["messages"]],
        "tools": [{**tool, "id": tools[tool["id"]]} for tool in new["tools"]],
        "requests": requests,
    }


def _new_ids(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> dict[str, str]:
    """Map each id of the new list to the id of its equal in the old one; `m7` without an equal becomes `new m7`."""
    left, right = [_without_id(item) for item in old], [_without_id(item) for item in new]
    return {
        new[theirs]["id"]: old[ours]["id"] if ours is not None else f"new {new[theirs]['id']}"
        for ours, theirs in align(left, right)
        if theirs is not None
    }


def _without_id(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != "id"}
