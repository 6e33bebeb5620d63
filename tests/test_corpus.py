"""Real recorded exchanges, where they are at hand: UNSPOOL_CORPUS, or ../shared/corpus beside the repository."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from unspool.exports.cooked import Cooker
from unspool.ingest.open import read_exchanges
from unspool.jobs.cook import cook
from unspool.model import Exchange, Note

CORPUS = Path(os.environ.get("UNSPOOL_CORPUS", Path(__file__).parent.parent.parent / "shared" / "corpus"))
FAMILIES = ("api_anthropic", "api_gemini", "api_openai_chat", "api_openai_compat", "api_openai_responses")
FILES = sorted(path for family in FAMILIES for path in (CORPUS / family).glob("*.jsonl"))
WIRES = {"anthropic": "claude", "gemini": "gemini", "openai_chat": "openai", "openai_responses": "responses"}

pytestmark = pytest.mark.skipif(not FILES, reason=f"needs recorded exchanges in {CORPUS} (UNSPOOL_CORPUS)")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}"[:90])
def test_every_record_becomes_a_request(path: Path) -> None:
    records = [json.loads(line) for line in path.read_text().split("\n") if line.strip()]
    items = list(read_exchanges(path))
    exchanges = [item for item in items if isinstance(item, Exchange)]
    assert [item for item in items if isinstance(item, Note)] == []
    assert len(exchanges) == len(records)
    cooker = Cooker()
    for record, exchange in zip(records, exchanges, strict=True):
        request = cooker.add(exchange)
        assert exchange.wire == WIRES.get(record["_source"]["provider"], "openai")
        assert request.model
        asked = [record["request"].get(key) for key in ("messages", "input", "contents")]
        assert bool(request.request_messages) == any(asked)
        assert len(exchange.messages) >= max(len(items) if isinstance(items, list) else 1 for items in asked if items)
        assert request.response_messages or not has_answer(record["response"])
        assert not request.interrupted


def has_answer(response: Any) -> bool:
    """Whether the source has any text, call or error for an answer."""
    match response:
        case {"sse_lines": lines}:
            return any(
                word in line for line in lines for word in ('"text"', '"content":"', '"content": "', "arguments")
            )
        case {"json_array": _} | {"error": dict()}:
            return True
        case {"content": content} | {"output": content}:
            return any(block.get("type") != "reasoning" or block.get("summary") for block in content)
        case {"choices": [{"message": _} | {"text": _}, *_]}:
            return True
        case {"candidates": [candidate, *_]}:
            return bool(candidate.get("content", {}).get("parts"))
    return False


def test_tool_loops_are_connected() -> None:
    """A file with a tool loop is one conversation: each later call has a parent or is a retry."""
    loops = [path for path in FILES if "tool-loop" in path.stem or "tool_chain" in path.stem]
    assert loops
    for path in loops:
        requests = cook(path).requests
        assert [request.id for request in requests[1:] if not (request.parent_id or request.retry_of)] == [], path.name
