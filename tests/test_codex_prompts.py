"""Codex: which words of a message a person wrote, where editors and browsers wrote beside them."""

from typing import Any

import pytest

from test_reader_codex import events, header, line
from unspool.model.event import AgentMessage, Notification, Said, User

PAGE = '<in-app-browser-context source="ambient-ui-state">\n# In app browser:\n- 1 tab\n</in-app-browser-context>'
FILES = "# Files mentioned by the user:\n\n## a.png: /w/a.png"
COMMENT = "# Browser comments:\n\n## Comment 1\nTarget: button\nComment:\ntoo small"
SHOWN = "The next image shows the page."


def prompt(*texts: str) -> list[object]:
    parts = [{"type": "input_text", "text": text} for text in texts]
    message = line("response_item", type="message", role="user", content=parts)
    return [event.content for event in events([header(), message])]


@pytest.mark.parametrize("before", ["", "\n"])
@pytest.mark.parametrize("above", [PAGE, FILES, f"{FILES}\n\n{PAGE}"])
@pytest.mark.parametrize("heading", ["## My request for Codex:", "## My request:"])
def test_what_stands_above_the_words_is_context(before: str, above: str, heading: str) -> None:
    assert prompt(f"{before}{above}\n\n{heading}\nfix it\n") == [Notification(above, "context"), User("fix it")]


def test_a_page_around_the_words_is_context() -> None:
    assert prompt(f"{PAGE}\n\nfix it") == [Notification(PAGE, "context"), User("fix it")]
    assert prompt(f"## My request:\nfix it\n\n{PAGE}\n") == [Notification(PAGE, "context"), User("fix it")]


def test_a_page_that_is_quoted_stays() -> None:
    assert prompt(f"What is\n{PAGE}\nthere?") == [User(f"What is\n{PAGE}\nthere?")]


def test_comments_on_a_page_are_the_persons_words() -> None:
    text = f"{COMMENT}\n\n## My request for Codex:\n\n{SHOWN}"
    assert prompt(text) == [User(text)]


def test_files_that_are_named_in_a_part_of_their_own() -> None:
    assert prompt(f"\n{FILES}", "fix it") == [Notification(f"\n{FILES}", "context"), User("fix it")]


def spoken(role: str, text: str) -> dict[str, Any]:
    return line("realtime_item", id="s", realtime_session_id="v", type="transcript_segment", role=role, text=text)


DELEGATION = "<realtime_delegation>\n  <input>Count &lt;the&gt; boats</input>\n  {}</realtime_delegation>"
HEARD = "<transcript_delta>user: count them</transcript_delta>\n"


def test_what_a_voice_passes_on_is_the_prompt() -> None:
    assert prompt(DELEGATION.format(HEARD)) == [
        Notification(f"<realtime_delegation>\n  {HEARD}</realtime_delegation>", "context"),
        User("Count <the> boats"),
    ]


def test_words_that_were_spoken_are_prompts_and_answers() -> None:
    text = DELEGATION.format("")
    passed_on = line("response_item", type="message", role="user", content=[{"type": "input_text", "text": text}])
    started = line("realtime_item", id="s", realtime_session_id="v", type="realtime_session_started")
    told = events([header(), started, spoken("user", "count them"), spoken("assistant", "Yes."), passed_on])
    contents = [event.content for event in told]
    assert contents == [User("count them"), Said("Yes."), Notification(text, "context")]


@pytest.mark.parametrize(
    "text", ["<heartbeat>\n  <instructions>\nlook</instructions>\n</heartbeat>", "Look once more."]
)
def test_what_a_schedule_says_is_no_prompt(text: str) -> None:
    parts = [{"type": "input_text", "text": text}]
    about = {"turn_id": "t", "content_item_kinds": ["user.heartbeat"]}
    message = line(
        "response_item", type="message", role="user", content=parts, internal_chat_message_metadata_passthrough=about
    )
    echo = line("event_msg", type="item_completed", item={"type": "UserMessage", "id": "u", "content": parts})
    assert [event.content for event in events([header(), message, echo])] == [Notification(text, "context")]


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ({"type": "input_audio", "audio_url": "data:audio/wav;base64,YWJjZA=="}, "[audio: audio/wav, 4 bytes]"),
        ({"type": "audio", "url": "https://example.test/a.wav"}, "[audio: https://example.test/a.wav]"),
        ({"type": "local_audio", "path": "/w/a.wav"}, "[audio: /w/a.wav]"),
    ],
)
def test_words_may_come_with_a_sound(part: dict[str, str], shown: str) -> None:
    parts = [{"type": "input_text", "text": "what is it?"}, part]
    message = line("response_item", type="message", role="user", content=parts)
    assert [event.content for event in events([header(), message])] == [User(f"what is it?\n{shown}")]


def test_so_may_those_that_only_the_screen_was_told() -> None:
    echo = line("event_msg", type="user_message", message="what is it?", local_audio=["/w/a.wav"])
    assert [event.content for event in events([header(), echo])] == [User("what is it?\n[audio: /w/a.wav]")]


def told_with(kinds: list[str | None], *texts: str) -> list[object]:
    """A message of such parts, and its echo: the last of its texts."""
    parts = [{"type": "input_text", "text": text} for text in texts]
    about = {"content_item_kinds": kinds}
    message = line(
        "response_item", type="message", role="user", content=parts, internal_chat_message_metadata_passthrough=about
    )
    echo = line("event_msg", type="item_completed", item={"type": "UserMessage", "id": "u", "content": parts[-1:]})
    return [event.content for event in events([header(), message, echo, line("event_msg", type="task_started")])]


def test_the_echo_of_words_that_stand_beside_others_is_known() -> None:
    shown = "<environment_context>rain</environment_context>"
    kinds: list[str | None] = ["environments.environment_context", "user.text"]
    assert told_with(kinds, shown, "fix it") == [Notification(shown, "context"), User("fix it")]
    assert told_with(["user.audio", "user.audio", "user.text"], "<audio name=[Audio #1]>", "</audio>", "fix it") == [
        User("fix it")
    ]


@pytest.mark.parametrize(("kept", "shown"), [("gAAAAABq", "[encrypted: 8 characters]"), ("fold it", "fold it")])
def test_a_letter_may_keep_its_words_where_ciphers_stand(kept: str, shown: str) -> None:
    letter = line("inter_agent_communication", author="/root", recipient="/root/a", content="", encrypted_content=kept)
    assert [event.content for event in events([header(), letter])] == [AgentMessage(shown, "/root", "/root/a")]


def test_so_may_a_message() -> None:
    message = line("response_item", type="message", role="assistant", content=[], encrypted_content="gAAAAABq")
    assert [event.content for event in events([header(), message])] == [Said("[encrypted: 8 characters]")]
