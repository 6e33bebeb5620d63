"""Which upstream a request is for. Only those that were configured are ever called: this is no open proxy.

--target URL            everything goes there
/NAME/…                 to the upstream of that name, the name taken off; X-Unspool-Upstream: NAME does the same
headers, then the path  Anthropic, Gemini or OpenAI, as their clients show themselves
"""

import hmac
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from unspool.errors import UnspoolError
from unspool.recorder.framing import Head, Refused

DEFAULTS = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com",
    "gemini": "https://generativelanguage.googleapis.com",
    "code-assist": "https://cloudcode-pa.googleapis.com",
    "chatgpt": "https://chatgpt.com/backend-api/codex",
}
UPSTREAM_HEADER, TOKEN_HEADER = "x-unspool-upstream", "x-unspool-token"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_GEMINI = re.compile(r"/v1(?:alpha|beta\d*)/|/v1/models/[^/?]+:|/upload/v1(?:alpha|beta\d*)?/")
_ANTHROPIC = re.compile(r"/v1/(?:messages|complete|organizations|sessions|environments)\b|/api/")
"""Paths that OpenAI has not. Of those that both have (skills, files), Anthropic's clients tell by a header."""
_OPENAI = re.compile(r"/v1/|/(?:chat/completions|responses|completions|embeddings|models)(?:[/?]|$)")


class Upstream(Struct, frozen=True):
    name: str
    tls: bool
    host: str
    port: int
    base: str
    """The path that all its paths begin with, without a slash at its end."""

    @property
    def authority(self) -> str:
        """What it is called in a Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.authority}"

    def path(self, given: str) -> str:
        """The path there. A base that the path begins with already is not doubled."""
        doubled = given == self.base or given.startswith((f"{self.base}/", f"{self.base}?"))
        return given if doubled or given == "*" else self.base + given


def upstream_of(name: str, url: str) -> Upstream:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UnspoolError(f"{url!r} is no URL: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UnspoolError(f"{url!r} is no URL that can be called: http://HOST or https://HOST")
    if parts.username or parts.query or parts.fragment:
        raise UnspoolError("the URL of an upstream has no user, no query and no fragment")
    tls = parts.scheme == "https"
    return Upstream(name, tls, parts.hostname, port or (443 if tls else 80), parts.path.rstrip("/"))


class Routes:
    def __init__(self, target: str | None, named: Mapping[str, str], token: str | None = None) -> None:
        wrong = next((name for name in named if not _NAME.fullmatch(name)), None)
        if wrong is not None:
            raise UnspoolError(f"{wrong!r} is no name for an upstream: letters, digits, dots and hyphens")
        self.target = upstream_of("target", target) if target else None
        urls = dict(named) if target else {**DEFAULTS, **named}
        self.named = {name: upstream_of(name, url) for name, url in urls.items()}
        self._token = token

    def choose(self, head: Head, path: str) -> tuple[Upstream, str]:
        """The upstream, and the path to ask it for."""
        named = head.first(UPSTREAM_HEADER)
        if named:
            if named not in self.named:
                raise Refused(f"no upstream is called {named!r}, only {', '.join(self.named)}", 404)
            return self.named[named], self.named[named].path(path)
        first, slash, rest = path[1:].partition("/")
        if first in self.named:
            return self.named[first], (self.named[first].base + slash + rest) or "/"
        if self.target is not None:
            return self.target, self.target.path(path)
        name = _provider(head, path)
        if name is None:
            names = ", ".join(f"/{name}/" for name in self.named)
            raise Refused(
                f"neither path nor headers of {head.method} {path.partition('?')[0]} say which upstream it is for: "
                f"start the recorder with --target URL, or begin the path with one of {names}",
                404,
            )
        upstream = self.named[name]
        if name == "chatgpt":
            path = path.removeprefix("/v1")
        elif name == "openai" and not path.startswith("/v1/") and not upstream.base:
            path = "/v1" + path
        return upstream, upstream.path(path)

    def admitted(self, head: Head) -> str:
        """The path without the token that it begins with, `/~TOKEN/…`; refused if there must be one and is none."""
        path = head.target
        if self._token is None:
            return path
        given, own = head.first(TOKEN_HEADER), self._token.encode()
        if path.startswith("/~"):
            given, slash, rest = path[2:].partition("/")
            path = slash + rest or "/"
        if not hmac.compare_digest(given.encode("latin-1", "replace"), own):
            raise Refused("this recorder asks for its token: in the path, /~TOKEN/…, or as X-Unspool-Token", 401)
        return path


def _provider(head: Head, path: str) -> str | None:
    names = {name for name, _ in head.fields}
    agent = head.first("user-agent").lower()
    if path.startswith("/v1internal"):
        return "code-assist"
    if "chatgpt-account-id" in names:
        return "chatgpt"
    if "x-goog-api-key" in names or "x-goog-api-client" in names or _GEMINI.match(path):
        return "gemini"
    if "anthropic-version" in names or "x-api-key" in names or agent.startswith("claude-cli"):
        return "anthropic"
    if _ANTHROPIC.match(path):
        return "anthropic"
    return "openai" if _OPENAI.match(path) else None
