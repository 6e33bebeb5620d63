"""What of a call may be written down. Headers are kept by name, so that one that nobody knows is no key on a disk."""

import re
from collections.abc import Iterable
from urllib.parse import unquote

_KEPT = frozenset(
    """accept accept-encoding content-encoding content-length content-type date retry-after server transfer-encoding
    user-agent via traceparent x-request-id request-id x-app originator version idempotency-key session-id session_id
    agent-session-id x-session-id conversation_id thread-id x-codex-turn-state openai-beta openai-version openai-model
    openai-processing-ms openai-organization openai-project anthropic-version anthropic-beta x-goog-api-client
    x-goog-user-project server-timing cf-ray upgrade sec-websocket-version sec-websocket-extensions
    x-client-request-id x-should-retry helicone-id x-litellm-call-id x-openai-subagent""".split()
)
_PREFIXES = ("x-stainless-", "x-ratelimit-", "anthropic-ratelimit-", "x-envoy-", "x-msh-", "x-dashscope-")
_QUERY = re.compile(r"([?&][^=&#]*=)([^&#]*)")
_SECRET = re.compile(
    r"(?i)(?:key|token|secret|passw(?:or)?d|passphrase|pwd|signature|sig|auth|authorization|jwt|code|cookie|credential)=$"
)
_TRAILER = re.compile(r"(?i)key|token|secret|passw|auth|cookie|credential|signature|session")


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
    return _QUERY.sub(lambda pair: pair[1] + ("REDACTED" if _SECRET.search(unquote(pair[1])) else pair[2]), path)


def clean_trailers(trailers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """They have no names that all know: what sounds like a secret is taken for one."""
    return {name: "REDACTED" if _TRAILER.search(name) else value for name, value in trailers}
