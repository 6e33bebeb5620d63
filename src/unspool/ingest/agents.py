"""Whose traffic is this? Recorded calls do not say which agent made them, but their words and tools do."""

from collections.abc import Iterator
from typing import Any

from unspool.actions import vocabulary_for
from unspool.model import Exchange, Meaning, Message, Text, ToolUse

_USER_AGENTS = (
    ("claude-cli", "claude_code"),
    ("codex", "codex"),
    ("geminicli", "gemini_cli"),
    ("gemini-cli", "gemini_cli"),
    ("qwencode", "qwen_code"),
    ("qwen-code", "qwen_code"),
    ("opencode", "opencode"),
    ("copilot", "copilot_cli"),
    ("goose", "goose"),
    ("roocode", "roo"),
    ("cline", "cline"),
    ("factory-cli", "droid"),
    ("crush", "crush"),
    ("zed", "zed"),
    ("continue", "continue"),
)
_PHRASES = (
    ("You are Claude Code", "claude_code"),
    ("Claude Agent SDK", "claude_code"),
    ("x-anthropic-billing-header", "claude_code"),
    ("You are Codex", "codex"),
    ("Codex CLI", "codex"),
    ("You are a coding agent running in the Codex", "codex"),
    ("You are Gemini CLI", "gemini_cli"),
    ("This is the Gemini CLI", "gemini_cli"),
    ("You are an interactive CLI agent specializing in software engineering tasks", "gemini_cli"),
    ("You are iFlow CLI", "iflow"),
    ("You are Qwen Code", "qwen_code"),
    ("This is the Qwen Code", "qwen_code"),
    ("You are opencode", "opencode"),
    ("You are OpenCode", "opencode"),
    ("operating inside pi", "pi"),
    ("You are the GitHub Copilot CLI", "copilot_cli"),
    ("general-purpose AI agent called goose", "goose"),
    ("You are Cline", "cline"),
    ("You are Roo", "roo"),
    ("You are Amp", "amp"),
    ("You are Droid", "droid"),
    ("You are Crush", "crush"),
    ("operating in Cursor", "cursor"),
)
_TOOLS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"exec_command", "write_stdin"}), "codex"),
    (frozenset({"shell", "update_plan"}), "codex"),
    (frozenset({"shell", "apply_patch"}), "codex"),
    (frozenset({"shell_command", "apply_patch"}), "codex"),
    (frozenset({"Bash", "Read", "Edit"}), "claude_code"),
    (frozenset({"Task", "TodoWrite"}), "claude_code"),
    (frozenset({"run_shell_command", "read_file"}), "gemini_cli"),
    (frozenset({"google_web_search", "replace"}), "gemini_cli"),
    (frozenset({"developer__shell"}), "goose"),
    (frozenset({"execute_command", "write_to_file"}), "cline"),
    (frozenset({"bash", "read", "edit", "webfetch"}), "opencode"),
    (frozenset({"bash", "read", "edit", "write"}), "pi"),
)


def agent_of(exchange: Exchange) -> str | None:
    """By the client's name, by the system prompt, by the tools it offers, in this order."""
    client = f" {client_of(exchange.extra).lower()}"
    if found := next((agent for sign, agent in _USER_AGENTS if _begins_a_word(sign, client)), None):
        return found
    words = "\n".join(_opening(exchange.messages))
    if found := next((agent for phrase, agent in _PHRASES if _ends_a_word(phrase, words)), None):
        return found
    # What an API defines, anybody may offer: such a tool has its type for a name.
    names = {tool.name for tool in exchange.tools if (tool.extra or {}).get("type") != tool.name}
    return next((agent for tools, agent in _TOOLS if tools <= names), None)


def _begins_a_word(sign: str, text: str) -> bool:
    """Zed has no part in `authorized`."""
    at = text.find(sign)
    return at >= 0 and not text[at - 1].isalpha()


def _ends_a_word(phrase: str, text: str) -> bool:
    """Who is Amplitude is not Amp."""
    at = text.find(phrase)
    return at >= 0 and not text[at + len(phrase) : at + len(phrase) + 1].isalpha()


def meanings(exchange: Exchange, agent: str | None = None) -> Iterator[tuple[ToolUse, Meaning]]:
    """Each tool call of the answer, and what it means in the words of the agent that was recognised."""
    vocabulary = vocabulary_for(agent or agent_of(exchange) or "")
    for message in exchange.response.messages:
        for block in message.blocks:
            if isinstance(block, ToolUse):
                yield (
                    block,
                    vocabulary.read(block.name, {"raw": block.text} if block.arguments is None else block.arguments),
                )


def _opening(messages: tuple[Message, ...]) -> Iterator[str]:
    """The system prompt, wherever it stands, and the first thing said."""
    for message in messages[:4]:
        for block in message.blocks[:4]:
            if isinstance(block, Text):
                yield block.text[:4000]


def client_of(extra: dict[str, Any] | None) -> str:
    """Return the user agent, from the places where recorders keep headers; an empty text if there is none."""
    holder: Any = extra or {}
    for key in ("headers", "request_headers"):
        if isinstance(headers := holder.get(key), dict):
            return next((str(value) for name, value in headers.items() if name.lower() == "user-agent"), "")
    return str(holder.get("client") or holder.get("user_agent") or "")
