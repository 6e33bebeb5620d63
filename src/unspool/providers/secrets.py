"""Keys of providers: from the environment, the system's keyring, or a file that only its owner can read.

A key is read when something is sent, and is held nowhere else: not in the store, not in a log, not in an error.
"""

import os
import re
import stat
import tomllib
from pathlib import Path

from unspool.errors import NotConfigured, OutputNotWritable
from unspool.providers.catalogue import Provider
from unspool.sources.hiding import may_hold_key
from unspool.sources.home import data_folder, write_private
from unspool.sources.jsontext import dumps

_SERVICE = "unspool"
_WHOLE = re.compile(r"[!-~]+")
_SHORTEST = 8
"""Letters of what is taken for a key in a header."""


def keys_path() -> Path:
    return data_folder() / "keys.toml"


def find_key(provider: Provider) -> tuple[str, str] | None:
    """The key and where it was found; None where there is none."""
    for name in provider.keys:
        if given := os.environ.get(name, "").strip():
            return given, f"${name}"
    account = provider.account or provider.name
    if kept := _from_keyring(account):
        return kept, "keyring"
    if written := _from_file().get(account):
        return written, str(keys_path())
    return None


def key_of(provider: Provider) -> str | None:
    """What to send; None only where none is needed."""
    found = find_key(provider)
    if found is None and not provider.keyless:
        names = " or ".join(f"${name}" for name in provider.keys)
        way = f"set {names}, or " if names else ""
        raise NotConfigured(f"no key for {provider.title}: {way}give it to `unspool provider key {provider.name}`")
    if found is not None and not _WHOLE.fullmatch(found[0]):  # a header would refuse it, and show it
        raise NotConfigured(f"the key for {provider.title} in {found[1]} holds blanks, or letters that no key has")
    return found[0] if found else None


def secrets_of(provider: Provider, key: str | None) -> tuple[str, ...]:
    """What no message shows, should the provider repeat it: the key, and what headers hold that are called like one."""
    held = (value.split()[-1] for name, value in provider.headers.items() if value.strip() and may_hold_key(name))
    return (*((key,) if key else ()), *(each for each in held if len(each) >= _SHORTEST))


def keep_key(provider: Provider, key: str) -> str:
    """In the keyring where there is one, else in the file. Tells where."""
    account = provider.account or provider.name
    if _to_keyring(account, key):
        return "the system's keyring"
    path = keys_path()
    keys = {**_from_file(), account: key}
    text = "".join(f"{dumps(name)} = {dumps(value)}\n" for name, value in keys.items())
    try:
        write_private(path, text.encode())
    except OSError as error:
        raise OutputNotWritable(f"{path}: {error.strerror}") from error
    return str(path)


def _from_file() -> dict[str, str]:
    path = keys_path()
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise NotConfigured(f"{path}: {error.strerror}") from error
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise NotConfigured(f"{path} can be read by others, and holds keys: chmod 600 it")
    try:
        keys = tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError):
        raise NotConfigured(f"{path} is no TOML that can be read") from None  # the cause could show a key
    return {name: key for name, key in keys.items() if isinstance(key, str)}


def _from_keyring(name: str) -> str | None:
    """What the keyring says; nothing where there is none to ask."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        return keyring.get_password(_SERVICE, name)
    except KeyringError:
        return None  # locked, or no keyring on this machine: the file may have it


def _to_keyring(name: str, key: str) -> bool:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return False
    try:
        keyring.set_password(_SERVICE, name, key)
    except KeyringError:
        return False
    return True
