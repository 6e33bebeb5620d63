"""A request as it would be sent: a context, from a thread or from anywhere, made into one provider's body."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from msgspec import Struct

from unspool.errors import InputNotFound, WrongContext
from unspool.model import Context, Tool
from unspool.providers.addresses import ask_url, headers
from unspool.providers.config import Config, Target, target_of
from unspool.sources.files import DASH, as_utf_8, standard_input
from unspool.sources.jsontext import Unreadable, dumps, loads
from unspool.threads.offering import offered
from unspool.wires import speaker_for
from unspool.wires.normalised import read_context, read_tools


class Prepared(Struct):
    body: dict[str, Any]
    warnings: list[str] = []
    """What was changed because the provider does not take it."""


def context_for_gpt2099(headishes: Sequence[str]) -> Any:
    """The context of threads in the store, as gpt2099 would have it; or as it is given (`-`)."""
    if DASH in headishes:
        return read_json(DASH)
    from unspool.wires import gpt2099

    return gpt2099.context_of(context_of(headishes))


def context_of(headishes: Sequence[str]) -> Context:
    if DASH in headishes:
        return read_context(read_json(DASH))
    from unspool.store.store import Store
    from unspool.threads.context import resolve

    with Store.open() as store:
        return resolve(store, headishes)


def read_json(path: str, lines: bool = False) -> Any:
    """A JSON document, or with `lines` JSON lines as a list; `-` is standard input."""
    if path == DASH:
        data = standard_input().read()
    else:
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise InputNotFound(f"{path}: {error.strerror}") from error
    data = as_utf_8(data)
    try:
        return loads(data)
    except Unreadable as error:
        name = "standard input" if path == DASH else path
        if lines and b"\n" in data.strip():
            return [_line(line, f"{name}:{number}") for number, line in enumerate(data.splitlines(), 1) if line.strip()]
        raise WrongContext(f"{name}: no JSON: {error}") from error


def _line(data: bytes, place: str) -> Any:
    try:
        return loads(data)
    except Unreadable as error:
        raise WrongContext(f"{place}: no JSON: {error}") from error


def tools_in(paths: Sequence[str]) -> list[Tool]:
    """A list, what `tools/list` answers, or one definition a line."""
    return [tool for path in paths for tool in read_tools(_definitions(path))]


def _definitions(path: str) -> Any:
    value = read_json(path, lines=True)
    return [value] if isinstance(value, dict) and "name" in value else value


def tools_of(context: Context) -> tuple[list[Tool], list[str]]:
    """The tools that `ask` would offer, and the servers of the thread that are not set up here."""
    names = context.options.get("servers")
    wanted = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    if not wanted:
        return [], []
    from unspool.servers.connections import Connections
    from unspool.servers.registry import read_servers

    known = read_servers()
    missing = [name for name in wanted if name not in known]
    if len(missing) == len(wanted):
        return [], missing
    with Connections() as servers:
        return [tool for name in wanted if name in known for tool in servers.open(name, known[name])], missing


def target_for(context: Context, named: str | None, config: Config) -> Target:
    """Whom a context goes to: who is named, else who answered it before, else the default."""
    pointer = context.options.get("provider_ptr")
    return target_of(named or (pointer if isinstance(pointer, str) else None), config, model_needed=False)


def prepare(context: Context, tools: Sequence[Tool], target: Target, lenient: bool = False) -> Prepared:
    """Where no tools are given, with those that came with a recorded call."""
    tools, context = offered(context, tools)
    asking = target.asking(lenient)
    body = speaker_for(target.provider.api).prepare(context, tools, asking)
    return Prepared(body, list(dict.fromkeys(asking.warnings)))


def prepare_as_gpt2099(context: Any, tool_files: Sequence[str], provider: str) -> dict[str, Any]:
    from unspool.wires.gpt2099 import PROVIDERS, prepare

    if provider not in PROVIDERS:
        raise WrongContext(f"gpt2099 knows no provider {provider!r}, only {', '.join(PROVIDERS)}")
    tools = [tool for path in tool_files for tool in _listed(_definitions(path))]
    return prepare(provider, context, tools)


def _listed(value: Any) -> list[dict[str, Any]]:
    read_tools(value)  # says what is wrong with it
    listed: list[dict[str, Any]] = value["tools"] if isinstance(value, dict) else value
    return listed


def curl(target: Target, body: dict[str, Any]) -> str:
    """The request as a line for a shell, which takes the key from the environment."""
    provider = target.provider
    variable = provider.keys[0] if provider.keys else f"{provider.name.upper().replace('-', '_')}_API_KEY"
    marker = "\0"
    sent = headers(provider, None if provider.keyless and not provider.keys else marker)
    lines = [f"curl -sN {quote(ask_url(provider, target.model))}"]
    for name, value in sent.items():
        if name in ("user-agent", "accept"):
            continue
        if marker in value:
            lines.append(f'-H "{name}: {value.replace(marker, f"${{{variable}}}")}"')
        else:
            lines.append(f"-H {quote(f'{name}: {value}')}")
    return " \\\n  ".join([*lines, f"--data-raw {quote(dumps(body))}"])
