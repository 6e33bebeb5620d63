"""Calls of Slack's Web API: made by its own client, or only written down."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

_PASSING = {"internal_error", "fatal_error", "ratelimited", "rate_limited", "request_timeout", "service_unavailable"}


class Later(Exception):
    """It may go well another time."""

    def __init__(self, reason: str, after: float | None = None) -> None:
        super().__init__(reason)
        self.after = after
        """Seconds that Slack asks to wait."""


class Refused(Exception):
    """It would go wrong each time; the text is Slack's own word for why."""


class Caller(Protocol):
    def __call__(self, method: str, arguments: Mapping[str, Any], timeout: float) -> Mapping[str, Any]:
        """The answer; or Later, or Refused."""


class Client:
    """The client of `slack_sdk`, without its own retries: whoever calls knows better when to try again."""

    def __init__(self, token: str, url: str | None = None) -> None:
        import logging

        from slack_sdk import WebClient

        quiet = logging.getLogger("unspool.slack")  # it would write into the terminal, between the boxes
        quiet.propagate = False
        quiet.addHandler(logging.NullHandler())
        self._client = WebClient(token, base_url=url or WebClient.BASE_URL, retry_handlers=[], logger=quiet)

    def __call__(self, method: str, arguments: Mapping[str, Any], timeout: float) -> Mapping[str, Any]:
        from http.client import HTTPException

        from slack_sdk.errors import SlackApiError, SlackClientError

        self._client.timeout = max(1, round(timeout))
        try:
            answer = self._client.api_call(method, json=dict(arguments)).data
        except SlackApiError as error:
            raise _failure(error) from error
        except (OSError, HTTPException) as error:
            raise Later(_reason(error)) from error
        except SlackClientError as error:
            raise Refused(_reason(error)) from error
        return answer if isinstance(answer, dict) else {}


def _failure(error: Any) -> Later | Refused:
    """By the status and the word for it. What is no word is no answer of Slack, but of something on the way there."""
    response = error.response
    reason = str(response.get("error") or f"status {response.status_code}")
    if response.status_code == 429:
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Later("rate limited", _seconds(headers.get("retry-after")))
    if response.status_code >= 500 or reason in _PASSING or " " in reason:
        return Later(f"status {response.status_code}" if " " in reason else reason)
    return Refused(reason)


def _seconds(written: object) -> float | None:
    text = str(written)
    return float(text) if text.isdigit() else None


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None) or error or type(error).__name__)


class Written:
    """Every call as a line of JSON, in place of making it."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._number = 0

    def __call__(self, method: str, arguments: Mapping[str, Any], timeout: float) -> Mapping[str, Any]:  # noqa: ARG002
        self._write(json.dumps({"method": method, **arguments}, ensure_ascii=False))
        self._number += method == "chat.postMessage"
        return {"ok": True, "channel": arguments["channel"], "ts": f"{self._number:010}.000000"}
