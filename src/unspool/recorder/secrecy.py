"""What of a call may be written down. Headers are kept by name, so that one that nobody knows is no key on a disk."""

import re
from collections.abc import Iterable

_KEPT = frozenset(
    """accept accept-encoding content-encoding content-length content-type date retry-after server transfer-encoding
    user-agent via traceparent x-request-id request-id x-app originator version idempotency-key session-id session_id
    agent-session-id x-session-id conversation_id thread-id x-codex-turn-state openai-beta openai-version openai-model
    openai-processing-ms openai-organization openai-project anthropic-version anthropic-beta x-goog-api-client
    x-goog-user-project server-timing cf-ray upgrade sec-websocket-version sec-websocket-extensions
    x-client-request-id x-should-retry helicone-id x-litellm-call-id x-openai-subagent""".split()
)
_PREFIXES = ("x-stainless-", "x-ratelimit-", "anthropic-ratelimit-", "x-envoy-", "x-msh-", "x-dashscope-")
_SECRET = re.compile(r"(?i)([?&](?:[a-z_.-]*(?:key|token|secret|password|signature|sig|auth|code|credential))=)[^&#]*")


def kept(fields: Iterable[tuple[str, bytes]]) -> dict[str, str]:
    """The headers to be recorded, their names in small letters; those that come twice joined as HTTP joins them."""
    found: dict[str, str] = {}
    for name, value in fields:
        if name in _KEPT or name.startswith(_PREFIXES):
            text = value.decode("latin-1").strip()
            found[name] = f"{found[name]}, {text}" if name in found else text
    return found


def clean_path(path: str) -> str:
    """Gemini takes its key in the query, and signed addresses carry theirs there."""
    return _SECRET.sub(r"\1REDACTED", path)
