"""Providers and pointers: what is set up, and whether it works."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from unspool.errors import NotConfigured, ProviderFailed
from unspool.providers.calling import models
from unspool.providers.catalogue import Provider
from unspool.providers.config import Config, providers_of, read_config, target_of
from unspool.providers.network import Network
from unspool.providers.secrets import find_key, keep_key
from unspool.sources.hiding import without_keys


class Row(Struct):
    """A provider, as `provider list` tells of it. Never the key itself."""

    name: str
    api: str
    base_url: str
    key: str | None
    """Where the key was found."""
    keyless: bool
    pointers: dict[str, str]
    """Those that lead to it, and their models."""
    media: tuple[str, ...] = ()
    """What it takes beside text."""
    result_media: tuple[str, ...] = ()
    """What of that the result of a tool may hold."""
    search: bool = False


class Checked(Struct):
    name: str
    ok: bool
    told: str


def rows() -> tuple[list[Row], Config, list[str]]:
    """All providers, the configuration, and which of its pointers lead nowhere."""
    config = read_config()
    found: dict[str, Row] = {}
    for name, provider in providers_of(config).items():
        key = find_key(provider)
        place = key[1] if key else None
        able = provider.abilities
        about = (able.media, able.result_media, able.search)
        found[name] = Row(name, provider.api, without_keys(provider.base_url), place, provider.keyless, {}, *about)
    faults: list[str] = []
    for name, pointer in config.pointers.items():
        try:
            found[target_of(name, config).provider.name].pointers[name] = pointer.model
        except NotConfigured as fault:
            faults.append(str(fault))
    return list(found.values()), config, faults


def list_models(name: str) -> list[str]:
    with Network(60.0) as network:
        return models(network, target_of(name, read_config(), model_needed=False))


def check(names: Sequence[str]) -> Iterator[Checked]:
    """Ask each for its models. Without names: every pointer, and every provider that there is a key for."""
    config = read_config()
    if not names:
        keyed = [row for row in rows()[0] if row.key]
        names = [*config.pointers, *(row.name for row in keyed if not row.pointers)]
    if not names:
        raise NotConfigured("no pointer is set up, and no key is found: there is nothing to check")
    with Network(60.0) as network:
        for name in names:
            yield _checked(network, name, config)


def _checked(network: Network, name: str, config: Config) -> Checked:
    try:
        target = target_of(name, config, model_needed=False)
    except NotConfigured as error:
        if name not in config.pointers:
            raise
        return Checked(name, False, str(error))
    try:
        known = models(network, target)
    except (ProviderFailed, NotConfigured) as error:
        return Checked(name, False, str(error))
    if target.model is not None and known and target.model not in known:
        return Checked(name, False, f"{target.provider.title} lists no model {target.model}")
    found = "1 model" if len(known) == 1 else f"{len(known):,} models"
    return Checked(name, True, f"{target.provider.title}, {target.model or found}")


def keep(name: str, key: str) -> tuple[Provider, str]:
    """Store a provider's key; tells where."""
    provider = target_of(name, read_config(), model_needed=False).provider
    key = key.strip()
    if not key:
        raise NotConfigured("an empty key is none")
    return provider, keep_key(provider, key)


def record(row: Row) -> dict[str, Any]:
    return {
        "provider": row.name,
        "api": row.api,
        "base_url": row.base_url,
        "key": row.key,
        "ready": row.key is not None or row.keyless,
        "pointers": row.pointers,
        "media": row.media,
        "result_media": row.result_media,
        "search": row.search,
    }
