"""The configuration: providers, and pointers to models, in `config.toml` in `$UNSPOOL_HOME`.

    default = "milli"

    [pointers.milli]
    provider = "anthropic"
    model = "claude-sonnet-4-5"

    [providers.workshop]
    api = "openai"
    base_url = "http://workshop:8000/v1"

Everything in it is checked when it is read: a wrong key is named, with what would be right.
"""

import os
import tomllib
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from unspool.dialect import Abilities, Asking
from unspool.errors import NotConfigured
from unspool.providers.catalogue import ALIASES, DEFAULTS, PROVIDERS, Provider
from unspool.sources.home import data_folder


class Pointer(Struct, frozen=True, forbid_unknown_fields=True):
    """A name for a model, and how it is to be asked."""

    provider: str
    model: str
    base_url: str | None = None
    max_tokens: int | None = None
    search_tool: str | None = None
    body: dict[str, Any] = {}
    """Further keys of every request: `temperature`, `thinking`, …"""


class Host(Struct, frozen=True, forbid_unknown_fields=True):
    """A provider of one's own, or what is different of a known one."""

    api: Literal["claude", "openai", "responses", "gemini", "cohere"] | None = None
    base_url: str | None = None
    key_env: str | None = None
    """The environment variable that holds its key."""
    keyless: bool | None = None
    headers: dict[str, str] = {}
    media: list[str] | None = None
    """Media types that it takes: `["image/*", "application/pdf"]`."""
    search: bool | None = None
    echo_reasoning: bool | None = None


class Config(Struct, frozen=True, forbid_unknown_fields=True):
    default: str | None = None
    """The pointer where none is named."""
    pointers: dict[str, Pointer] = {}
    providers: dict[str, Host] = {}


_Table = TypeVar("_Table", bound=Struct)


class Target(Struct, frozen=True):
    """Whom to ask: what a pointer, or `PROVIDER/MODEL`, stands for."""

    name: str
    provider: Provider
    model: str | None = None
    max_tokens: int | None = None
    search_tool: str | None = None
    body: dict[str, Any] = {}

    def asking(self, lenient: bool = False) -> Asking:
        return Asking(
            self.provider.name,
            self.provider.api,
            self.provider.abilities,
            self.provider.title,
            self.model,
            self.max_tokens,
            self.search_tool,
            self.body,
            lenient,
            [],
        )


def config_path() -> Path:
    return Path(os.environ.get("UNSPOOL_CONFIG") or data_folder() / "config.toml")


def read_config() -> Config:
    """An empty one where there is no file."""
    path = config_path()
    try:
        written = path.read_text("utf-8-sig")
    except FileNotFoundError:
        return Config()
    except OSError as error:
        raise NotConfigured(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise NotConfigured(f"{path}: {error}") from error
    try:
        config = tomllib.loads(written)
    except tomllib.TOMLDecodeError as error:
        raise NotConfigured(f"{path}: {error}") from error
    for table, entry in (("pointers", Pointer), ("providers", Host)):
        named = config.get(table)
        for name, value in named.items() if isinstance(named, dict) else ():
            _converted(value, entry, f"{path}: {table}.{name}")
    return _converted(config, Config, str(path))


def _converted(value: Any, table: type[_Table], where: str) -> _Table:
    try:
        return msgspec.convert(value, table)
    except msgspec.ValidationError as error:
        known = f"; there are {', '.join(table.__struct_fields__)}" if "unknown field" in str(error) else ""
        raise NotConfigured(f"{where}: {error}{known}") from error


def providers_of(config: Config) -> dict[str, Provider]:
    """All that are known, as configured."""
    known = {name: _elsewhere(provider) for name, provider in PROVIDERS.items()}
    for name, host in config.providers.items():
        known[name] = _configured(name, host, known.get(name))
    return known


def _elsewhere(provider: Provider) -> Provider:
    url = next((os.environ[key] for key in provider.base_keys if os.environ.get(key)), None)
    return replace(provider, base_url=url.rstrip("/")) if url else provider


def _configured(name: str, host: Host, known: Provider | None) -> Provider:
    if known is None:
        if host.base_url is None:
            raise NotConfigured(f"{config_path()}: providers.{name} has no base_url")
        api = host.api or "openai"
        known = Provider(name, name, api, host.base_url, abilities=DEFAULTS[api], keyless=host.key_env is None)
    elif host.api is not None and host.api != known.api:
        known = replace(known, api=host.api, abilities=DEFAULTS[host.api])
    abilities: dict[str, Any] = {}
    if host.media is not None:
        abilities["media"] = tuple(host.media)
    if host.search is not None:
        abilities |= {"search": host.search, "search_with_tools": host.search}
    if host.echo_reasoning is not None:
        abilities["echo_reasoning"] = host.echo_reasoning
    return replace(
        known,
        base_url=(host.base_url or known.base_url).rstrip("/"),
        keys=(host.key_env,) if host.key_env else known.keys,
        keyless=known.keyless if host.keyless is None else host.keyless,
        headers={**known.headers, **host.headers},
        abilities=_changed(known.abilities, abilities),
    )


def _changed(abilities: Abilities, changes: dict[str, Any]) -> Abilities:
    return replace(abilities, **changes) if changes else abilities


def target_of(name: str | None, config: Config, model_needed: bool = True) -> Target:
    """A pointer, or `PROVIDER/MODEL`. Without a name, the default pointer."""
    name = name or config.default
    if name is None:
        raise NotConfigured(
            f"no provider is named: give -p PROVIDER/MODEL (such as anthropic/claude-sonnet-4-5), or set `default` and "
            f"a pointer in {config_path()}"
        )
    providers = providers_of(config)
    if name in config.pointers:
        pointer = config.pointers[name]
        provider = _provider(pointer.provider, providers, f"pointer {name}")
        if pointer.base_url:
            provider = replace(provider, base_url=pointer.base_url.rstrip("/"))
        return Target(name, provider, pointer.model, pointer.max_tokens, pointer.search_tool, pointer.body)
    first, slash, model = name.partition("/")
    if not slash and ALIASES.get(first, first) not in providers:
        pointers = ", ".join(config.pointers) or "none"
        raise NotConfigured(
            f"{name!r} is no pointer and no provider. Pointers: {pointers}; providers: {', '.join(providers)}"
        )
    provider = _provider(first, providers, name)
    if not model and model_needed:
        raise NotConfigured(f"{name}: which model? Give -p {first}/MODEL; `unspool provider models {first}` lists them")
    return Target(name, provider, model or None)


def _provider(name: str, providers: dict[str, Provider], where: str) -> Provider:
    found = providers.get(name) or providers.get(ALIASES.get(name, ""))
    if found is None:
        raise NotConfigured(f"{where}: no provider {name!r}; there are {', '.join(providers)}")
    return found
