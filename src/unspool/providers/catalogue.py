"""The providers that are known by name: which API each speaks, where, and what it takes."""

from msgspec import Struct

from unspool.dialect import Abilities

_PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_PAPERS = (*_PICTURES, "application/pdf")


class Provider(Struct, frozen=True):
    name: str
    title: str
    api: str
    """The wire that it speaks: claude, openai, responses, gemini, cohere."""
    base_url: str
    keys: tuple[str, ...] = ()
    """Environment variables that may hold its key, in the order in which they are asked."""
    base_keys: tuple[str, ...] = ()
    """Those that may hold another address of it."""
    abilities: Abilities = Abilities()
    prices: str | None = None
    """Its name in the price list."""
    keyless: bool = False
    """It answers without a key."""
    headers: dict[str, str] = {}
    account: str = ""
    """Whose key it takes, where that is another's."""


CLAUDE = Abilities(
    media=_PAPERS,
    result_media=_PAPERS,
    search=True,
    search_with_tools=True,
    call_ids=r"[a-zA-Z0-9_-]{1,64}",
    tool_names=r"[a-zA-Z0-9_-]{1,128}",
    alternating=True,
    cache_marks=4,
)
CHAT = Abilities(
    media=(*_PAPERS, "audio/wav", "audio/x-wav", "audio/mpeg", "audio/mp3"),
    search=True,
    search_with_tools=True,
    call_ids=r".{1,40}",
    max_tokens_key="max_completion_tokens",
)
RESPONSES = Abilities(
    media=_PAPERS, result_media=_PAPERS, search=True, search_with_tools=True, call_ids=r"[a-zA-Z0-9_-]{1,64}"
)
GEMINI = Abilities(
    media=(
        "image/png",
        "image/jpeg",
        "image/webp",
        "image/heic",
        "image/heif",
        "application/pdf",
        "audio/*",
        "video/*",
    ),
    result_media=("image/png", "image/jpeg", "image/webp", "application/pdf"),
    search=True,
    search_with_tools=True,
    nameless_calls=True,
    tool_names=r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}",
    alternating=True,
)
COHERE = Abilities(media=_PICTURES)
COMPATIBLE = Abilities(media=_PICTURES, call_ids=r".{1,40}")
"""What most hosts take that speak like Chat Completions; whether a model sees pictures it says itself."""
CEREBRAS = Abilities(call_ids=r".{1,40}", schema_without=frozenset({"$schema", "format", "minimum", "nullable"}))

DEFAULTS = {"claude": CLAUDE, "openai": COMPATIBLE, "responses": RESPONSES, "gemini": GEMINI, "cohere": COHERE}
"""Of a provider that is known only by its address."""

_OPENAI = ("OPENAI_API_KEY",)
_ALL = (
    Provider(
        "anthropic",
        "Anthropic",
        "claude",
        "https://api.anthropic.com",
        ("ANTHROPIC_API_KEY",),
        ("ANTHROPIC_BASE_URL",),
        CLAUDE,
        "anthropic",
    ),
    Provider("openai", "OpenAI", "openai", "https://api.openai.com/v1", _OPENAI, ("OPENAI_BASE_URL",), CHAT, "openai"),
    Provider(
        "openai-responses",
        "OpenAI Responses",
        "responses",
        "https://api.openai.com/v1",
        _OPENAI,
        ("OPENAI_BASE_URL",),
        RESPONSES,
        "openai",
        account="openai",
    ),
    Provider(
        "gemini",
        "Gemini",
        "gemini",
        "https://generativelanguage.googleapis.com",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        ("GOOGLE_GEMINI_BASE_URL",),
        GEMINI,
        "google",
    ),
    Provider(
        "cohere",
        "Cohere",
        "cohere",
        "https://api.cohere.com",
        ("CO_API_KEY", "COHERE_API_KEY"),
        ("CO_API_URL",),
        COHERE,
        "cohere",
    ),
    Provider(
        "cerebras",
        "Cerebras",
        "openai",
        "https://api.cerebras.ai/v1",
        ("CEREBRAS_API_KEY",),
        abilities=CEREBRAS,
        prices="cerebras",
    ),
    Provider(
        "openrouter",
        "OpenRouter",
        "openai",
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_KEY",),
        abilities=Abilities(media=_PAPERS, call_ids=r".{1,40}"),
        prices="openrouter",
    ),
    Provider(
        "groq",
        "Groq",
        "openai",
        "https://api.groq.com/openai/v1",
        ("GROQ_API_KEY",),
        abilities=COMPATIBLE,
        prices="groq",
    ),
    Provider(
        "deepseek",
        "DeepSeek",
        "openai",
        "https://api.deepseek.com/v1",
        ("DEEPSEEK_API_KEY",),
        abilities=Abilities(call_ids=r".{1,40}"),
        prices="deepseek",
    ),
    Provider("xai", "xAI", "openai", "https://api.x.ai/v1", ("XAI_API_KEY",), abilities=COMPATIBLE, prices="x-ai"),
    Provider(
        "mistral",
        "Mistral",
        "openai",
        "https://api.mistral.ai/v1",
        ("MISTRAL_API_KEY",),
        abilities=Abilities(media=_PICTURES, call_ids=r"[a-zA-Z0-9]{9}"),
        prices="mistral",
    ),
    Provider("ollama", "Ollama", "openai", "http://localhost:11434/v1", abilities=COMPATIBLE, keyless=True),
)
PROVIDERS = {provider.name: provider for provider in _ALL}
ALIASES = {"claude": "anthropic", "responses": "openai-responses", "openai-chat": "openai", "google": "gemini"}
