"""Images and documents of agents' logs: whoever goes on with a session sends them as they were."""

import json
from pathlib import Path

import pytest

from conftest import Run
from contexts import POINT, paper
from logs import Claude
from test_readers import cases, name_of, opened
from unspool.ingest.media import PLACEHOLDER, Media, blocks_of
from unspool.model import Document, Event, Text
from unspool.model.event import ToolOutput, User
from unspool.sources.values import placeholder

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": POINT}}
MARK = placeholder("image", "image/png", POINT)


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_every_reader_finds_what_its_placeholders_stand_for(case: Path, tmp_path: Path) -> None:
    for log in opened(case, tmp_path):
        media = Media()
        for event in log:
            if not isinstance(event, Event) or not isinstance(event.content, User | ToolOutput):
                continue
            media.came(log, event)
            text = event.content.text if isinstance(event.content, User) else event.content.output
            blocks = media.blocks(event, text)
            missing = [block.text for block in blocks if isinstance(block, Text) and PLACEHOLDER.search(block.text)]
            assert missing == [], f"{name_of(case)}: {log.reader.name}"


def test_text_and_images_keep_their_order() -> None:
    other = "".join(("iVBORw0K", "GgoAAAAN"))
    record = {"content": [{"type": "image", "mimeType": "image/gif", "data": other}, IMAGE]}
    text = f"Look:\n{MARK}\nand\n{placeholder('image', 'image/gif', other)}"
    blocks = blocks_of(text, record)
    assert blocks == (
        Text("Look:"),
        Document("image", "base64", POINT, "image/png"),
        Text("and"),
        Document("image", "base64", other, "image/gif"),
    )


@pytest.mark.parametrize(
    "text", ["[image: image/png, 71 bytes]", "[image: https://example.com/a.png]", "[image]", "Hi\n"]
)
def test_what_is_not_there_stays_as_it_is_told(text: str) -> None:
    assert blocks_of(text, {"content": [IMAGE]}) == (Text(text),)


def test_a_session_goes_on_with_its_images(unspool: Run, home: Path) -> None:
    """In what the user said and in what a tool gave, and for an API that takes images elsewhere than in results."""
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "A shot:"}, IMAGE]}
    log = Claude().user([{"type": "text", "text": "What is it?"}, IMAGE]).calls("t1", "Screenshot")
    log.user([result]).says("A point.")
    path = log.save(home.parent / "log.jsonl")
    done = unspool("thread", "from", path, "-b", "shot")
    assert done.returncode == 0, done.stderr
    told = json.loads(unspool("context", "resolve", "shot").stdout)["messages"]
    assert told[0]["content"] == [{"type": "text", "text": "What is it?"}, paper("image/png")]
    assert told[2]["content"][0]["content"] == [{"type": "text", "text": "A shot:"}, paper("image/png")]
    body = unspool("request", "shot", "-p", "openai/x", "--json").stdout.decode()
    assert body.count(f"data:image/png;base64,{POINT}") == 2
    body = unspool("request", "shot", "-p", "anthropic/x", "--json").stdout.decode()
    assert body.count(POINT) == 2
