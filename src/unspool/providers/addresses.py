"""Where each API is asked, and with which headers."""

from urllib.parse import quote

from unspool.providers.catalogue import Provider

_PATHS = {
    "claude": "/v1/messages",
    "openai": "/chat/completions",
    "responses": "/responses",
    "cohere": "/v2/chat",
}
_MODELS = {
    "claude": "/v1/models?limit=1000",
    "openai": "/models",
    "responses": "/models",
    "gemini": "/v1beta/models?pageSize=1000",
    "cohere": "/v1/models?endpoint=chat&page_size=1000",
}
_VERSIONS = {"claude": "/v1", "gemini": "/v1beta", "cohere": "/v2"}
"""What stands in our paths: an address may hold it too."""


def ask_url(provider: Provider, model: str | None) -> str:
    if provider.api == "gemini":
        name = quote((model or "MODEL").removeprefix("models/"), safe="-._~:/")
        return f"{_base(provider)}/v1beta/models/{name}:streamGenerateContent?alt=sse"
    return _base(provider) + _PATHS[provider.api]


def models_url(provider: Provider) -> str:
    return _base(provider) + _MODELS[provider.api]


def _base(provider: Provider) -> str:
    return provider.base_url.rstrip("/").removesuffix(_VERSIONS.get(provider.api, "/"))


def headers(provider: Provider, key: str | None) -> dict[str, str]:
    """The key goes into a header, never into an address: addresses are logged."""
    own = {"content-type": "application/json", "accept": "text/event-stream, application/json"}
    own["user-agent"] = "unspool"
    if provider.api == "claude":
        own["anthropic-version"] = "2023-06-01"
    if key is not None:
        match provider.api:
            case "claude":
                own["x-api-key"] = key
            case "gemini":
                own["x-goog-api-key"] = key
            case _:
                own["authorization"] = f"Bearer {key}"
    return own | provider.headers
