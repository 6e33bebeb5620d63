"""Does TRL take the `hf` form, with its tools? Renders records with every chat template that TRL ships.

    pip install -e . trl transformers datasets
    python scripts/check_trl.py                    # a record that holds what can be held
    python scripts/check_trl.py OUT/*.jsonl        # what `unspool squash --to hf` wrote

Not part of the tests: TRL wants torch, which is large. Rendering needs none, so `pip install --no-deps trl accelerate`
beside transformers and datasets does as well. Nothing is fetched from the network.

A template that TRL calls able to use tools must render each record, with the names of the tools that are called, the
values they are given and what they gave. Exit status 1 if one does not.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import trl
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast
from trl.chat_template_utils import supports_tool_calling
from trl.data_utils import apply_chat_template, is_conversational

from unspool.exports.training import format_for
from unspool.model.record import TrainingRecord, TrainingTurn

TEMPLATES = Path(trl.__file__).parent / "chat_templates"
TOOL = {
    "name": "weather",
    "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Lodz", "days": 2}'}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Is it sunny in Lodz?"},
    {"role": "assistant", "content": None, "reasoning_content": "I must look.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    {"role": "assistant", "content": "It is."},
]


def sample(folder: Path) -> str:
    turns = [TrainingTurn(message, train=message["role"] == "assistant") for message in MESSAGES]
    record = TrainingRecord(turns, [{"type": "function", "function": TOOL}], session="s", source="s.jsonl")
    file = folder / "sample.jsonl"
    file.write_bytes(b"".join(made.data for made in format_for("hf").encode([record])))
    return str(file)


def tokenizer(template: Path) -> PreTrainedTokenizerFast:
    """One that knows nothing: templates are text to text."""
    made = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel({"?": 0}, unk_token="?")),
        bos_token="<s>",
        eos_token="</s>",
        unk_token="?",
        pad_token="<pad>",
    )
    made.chat_template = template.read_text()
    return made


def missing(row: dict[str, Any], text: str) -> Iterator[str]:
    for message in row["messages"]:
        for call in message.get("tool_calls") or ():
            function = call["function"]
            wanted = [function["name"], *(v.strip() for v in function["arguments"].values() if isinstance(v, str))]
            yield from (word for word in wanted if not _holds(text, word))
        if message["role"] == "tool" and isinstance(given := message["content"], str):
            yield from [] if _holds(text, given.strip()) else [given]


def _holds(text: str, word: str) -> bool:
    """As it stands, or in JSON."""
    return any(form in text for form in (word, json.dumps(word)[1:-1], json.dumps(word, ensure_ascii=False)[1:-1]))


def main(files: list[str]) -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        named = files or [sample(Path(folder))]
        rows = datasets.load_dataset("json", data_files=named, split="train", cache_dir=folder)
        for template in sorted(TEMPLATES.glob("*.jinja")):
            processing = tokenizer(template)
            able = supports_tool_calling(processing)
            faults = [fault for row in rows if (fault := _fault(row, processing))]
            replaced = template.with_stem(f"{template.stem}_training").exists()  # by TRL, before it trains
            failed += able and not replaced and bool(faults)
            verdict = "ok" if not faults else f"{faults[0][:90]} ({len(faults)} of {len(rows)})"
            print(f"{template.stem:34} {'tools' if able else '-':6} {verdict}")  # noqa: T201
    return int(failed > 0)


def _fault(row: dict[str, Any], processing: PreTrainedTokenizerFast) -> str | None:
    if not is_conversational(row):
        return "TRL does not see a conversation"
    try:
        text = apply_chat_template(row, processing, tools=row["tools"])["text"]
    except Exception as error:  # a template raises what it likes
        return f"{type(error).__name__}: {error}"
    lost = list(missing(row, text))
    return f"not rendered: {lost[0]!r}" if lost else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
