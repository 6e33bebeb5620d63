"""How each agent is pointed at a recorder: environment variables, options, or an extension, never its own files.

What the user had set before, such as the address of a gateway, becomes an upstream of the recorder.
"""

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import msgspec
from msgspec import Struct

from unspool.sources.values import mapping

_EVERYWHERE = {
    "ANTHROPIC_BASE_URL": ("anthropic", ""),
    "OPENAI_BASE_URL": ("openai", "/v1"),
    "OPENAI_API_BASE": ("openai", "/v1"),
    "GOOGLE_GEMINI_BASE_URL": ("gemini", ""),
}
"""Variables that SDKs and most agents read → whose address they hold, and the path in it."""
_BESIDE = {
    "gemini": {"CODE_ASSIST_ENDPOINT": ("code-assist", "")},
    "goose": {
        "OPENAI_HOST": ("openai", ""),
        "ANTHROPIC_HOST": ("anthropic", ""),
        "GOOGLE_HOST": ("gemini", ""),
    },
    "aider": {  # its own, and those of LiteLLM, which it calls
        "AIDER_OPENAI_API_BASE": ("openai", "/v1"),
        "ANTHROPIC_API_BASE": ("anthropic", ""),
        "GEMINI_API_BASE": ("gemini", "/v1beta"),
    },
}
"""The same for those that read others beside these."""
_SETTING = re.compile(r"([\w-]+):[ \t]+([\"']?)(\S+?)\2[ \t]*(?:#.*)?")
"""A line of YAML with an address in it."""
_WRAPPERS = frozenset(
    {"npx", "bunx", "pnpm", "dlx", "uvx", "uv", "run", "exec", "env", "node", "bun", "python", "python3"}
)
_PROGRAMS = {"claude-code": "claude", "gemini-cli": "gemini", "qwen-code": "qwen", "opencode-ai": "opencode"}
_OTHERS = (("openai", "openai", "/v1"), ("google", "gemini", "/v1beta"))
"""What OpenCode and Pi call a provider, what we call it, and the path that belongs to the address."""
_PI = """export default function (pi) {{
  for (const [name, baseUrl] of Object.entries({providers})) pi.registerProvider(name, {{ baseUrl }});
}}
"""


class Pointing(Struct):
    """What a command is started with."""

    url: str
    home: Path
    folder: Path
    """For files that it must read; gone when it has ended."""
    given: Mapping[str, str]
    """The environment as it was."""
    single: bool = False
    """The recorder has one target, and so no paths for each provider."""
    environment: dict[str, str] = {}
    arguments: list[str] = []
    """To be put behind the name of the program."""
    upstreams: dict[str, str] = {}

    def variables(self, named: Mapping[str, tuple[str, str]]) -> None:
        """Addresses in the environment. One that was set before is where the recorder forwards to.

        Of several names for one provider those that were not set stay so, if one was: which of them goes first is the
        program's to say, and the default must not take the place of somebody's gateway.
        """
        chosen = {provider for name, (provider, _) in named.items() if self.given.get(name)}
        for name, (provider, path) in named.items():
            before = None if self.single else self.given.get(name)
            if before:
                self.environment[name] = self.upstream(name.lower().replace("_", "-"), before)
            elif self.single or provider not in chosen:
                self.environment[name] = self.at(provider, path)

    def at(self, provider: str, path: str = "") -> str:
        """The address of a provider that the recorder knows by itself."""
        return f"{self.url}{path}" if self.single else f"{self.url}/{provider}{path}"

    def upstream(self, name: str, url: str) -> str:
        """The address under which the recorder serves that upstream."""
        if self.single:
            return self.url
        self.upstreams[name] = url
        return f"{self.url}/{name}"


def point(agent: str, url: str, folder: Path, single: bool = False) -> Pointing:
    """`url` is the recorder's."""
    home = Path.home()
    pointing = Pointing(url, home, folder, {**_configured(agent, home), **os.environ}, single)
    pointing.variables(_EVERYWHERE | _BESIDE.get(agent, {}))
    excepted = [part for part in pointing.given.get("NO_PROXY", pointing.given.get("no_proxy", "")).split(",") if part]
    pointing.environment["NO_PROXY"] = pointing.environment["no_proxy"] = ",".join(
        [*excepted, "127.0.0.1", "localhost"]
    )
    pointing.environment["UNSPOOL_RECORD_URL"] = url
    if own := _OWN.get(agent):
        own(pointing)
    return pointing


def agent_of(command: Sequence[str]) -> str:
    """`claude` of `/usr/bin/claude -p …`, `codex` of `npx -y @openai/codex@latest exec …`."""
    for word in command[:4]:
        name = PurePath(word).name.partition("@")[0].removesuffix(".exe").removesuffix(".js").removesuffix(".py")
        name = _PROGRAMS.get(name, name)
        if name not in _WRAPPERS and not word.startswith("-"):
            return name
    return ""


def placed(command: Sequence[str], arguments: Sequence[str], agent: str) -> list[str]:
    """The command with options behind the name of its program, which may stand behind `npx -y`."""
    at = next((at for at in range(min(4, len(command))) if agent_of(command[at : at + 1]) == agent), 0)
    return [*command[: at + 1], *arguments, *command[at + 1 :]]


def _codex(pointing: Pointing) -> None:
    """A provider of the configuration gets another address. In place of Codex's own stands one that is the same but for
    the address, and speaks HTTP: Codex's own prefers WebSockets, in whose bytes no secret could be found."""
    home = Path(pointing.given.get("CODEX_HOME") or pointing.home / ".codex")
    configured = _toml(home / "config.toml")
    name = configured.get("model_provider", "openai")
    before = mapping(mapping(configured.get("model_providers")).get(name)).get("base_url")
    own = configured.get("openai_base_url") or pointing.given.get("OPENAI_BASE_URL")
    settings: dict[str, str | bool] = {}
    if isinstance(before, str):
        settings[f"model_providers.{name}.base_url"] = pointing.upstream(f"codex-{name}", before)
    else:
        table = "model_providers.unspool"
        # Without a name in the path: by its headers the recorder tells who is logged in, and calls another host then.
        address = pointing.upstream("codex-openai", own) if isinstance(own, str) else f"{pointing.url}/v1"
        settings |= {"model_provider": "unspool", f"{table}.name": "OpenAI", f"{table}.base_url": address}
        settings |= {f"{table}.wire_api": "responses", f"{table}.requires_openai_auth": True}
    for key, value in settings.items():
        pointing.arguments += ["-c", f"{key}={json.dumps(value)}"]


def _opencode(pointing: Pointing) -> None:
    """Configuration in a variable goes over that in files; their own providers keep all else that they have."""
    configured: dict[str, Any] = {}
    places = [Path(pointing.given.get("XDG_CONFIG_HOME") or pointing.home / ".config") / "opencode", Path()]
    for folder in places:
        configured |= mapping(_json(folder / "opencode.json").get("provider"))
    providers: dict[str, Any] = {}
    for name, provider, path in (("anthropic", "anthropic", "/v1"), *_OTHERS):
        providers[name] = {"options": {"baseURL": pointing.at(provider, path)}}
    for name, provider in configured.items():
        before = mapping(mapping(provider).get("options")).get("baseURL")
        if isinstance(before, str):
            providers[name] = {"options": {"baseURL": pointing.upstream(f"opencode-{name}", before)}}
    content = mapping(_decoded(pointing.given.get("OPENCODE_CONFIG_CONTENT", "{}")))
    content["provider"] = {**mapping(content.get("provider")), **providers}
    pointing.environment["OPENCODE_CONFIG_CONTENT"] = json.dumps(content)


def _pi(pointing: Pointing) -> None:
    """An extension, because Pi has no variables; it redirects providers that are there, and leaves their keys alone."""
    home = Path(pointing.given.get("PI_CODING_AGENT_DIR") or pointing.home / ".pi" / "agent")
    providers = {
        name: pointing.at(provider, path) for name, provider, path in (("anthropic", "anthropic", ""), *_OTHERS)
    }
    for name, provider in mapping(_json(home / "models.json").get("providers")).items():
        before = mapping(provider).get("baseUrl")
        if isinstance(before, str):
            providers[name] = pointing.upstream(f"pi-{name}", before)
    extension = pointing.folder / "recorder.js"
    extension.write_text(_PI.format(providers=json.dumps(providers)), "utf-8")
    pointing.arguments += ["-e", str(extension)]


def _configured(agent: str, home: Path) -> dict[str, str]:
    """Addresses in the configuration of those that let a variable go before it, by the name of that variable."""
    if agent == "goose":
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        named = _settings(folder / "goose" / "config.yaml")
        return {name: value for name, value in named.items() if name in _EVERYWHERE | _BESIDE["goose"]}
    if agent == "aider":
        named = {**_settings(home / ".aider.conf.yml"), **_settings(Path(".aider.conf.yml"))}
        return {"AIDER_OPENAI_API_BASE": named["openai-api-base"]} if "openai-api-base" in named else {}
    return {}


_OWN: dict[str, Callable[[Pointing], None]] = {
    "codex": _codex,
    "opencode": _opencode,
    "pi": _pi,
}
"""Those for which variables are not enough: claude, qwen and most programs need no more."""


def _settings(path: Path) -> dict[str, str]:
    """The plain ones at the top of a YAML file."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
        return {found[1]: found[3] for line in lines if (found := _SETTING.fullmatch(line))}
    except (OSError, ValueError):
        return {}


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError):  # none, or none that the agent could read either
        return {}


def _json(path: Path) -> dict[str, Any]:
    try:
        return mapping(_decoded(path.read_text("utf-8-sig")))
    except (OSError, ValueError):
        return {}


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
