import json
from pathlib import Path

import pytest

from training import FULL, answer, call, encoded, result, row, user


def test_each_message_says_whether_to_train_on_it() -> None:
    assert [message["train"] for message in row("axolotl", *FULL, train={5})["messages"]] == [False] * 5 + [
        True,
        False,
        False,
    ]


def test_where_nothing_is_marked_every_answer_is_meant() -> None:
    from training import record
    from unspool.exports.training import format_for

    plain = record(*FULL)
    for turn in plain.turns:
        turn.train = turn.generated = False
    (made,) = format_for("axolotl").encode([plain])
    assert [message["role"] for message in made.rows[0]["messages"] if message["train"]] == ["assistant"] * 3


def test_arguments_and_parameters_are_json_text() -> None:
    made = row("axolotl", user("?"), answer(None, call("a", arguments='{"days":  2}'), call("b", arguments="[1]")))
    first, second = made["messages"][1]["tool_calls"]
    assert first["function"]["arguments"] == '{"days":  2}'
    assert json.loads(second["function"]["arguments"]) == {"raw": "[1]"}
    tool = made["tools"][0]["function"]
    assert (tool["name"], json.loads(tool["parameters"])["required"]) == ("weather", ["city"])
    assert row("axolotl", user("?"), tools=[])["tools"] is None


def test_datasets_loads_it_with_one_type_a_column(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    file = tmp_path / "a.jsonl"
    kinds = ['{"days": 2}', '{"days": "two"}']
    rows = [
        encoded("axolotl", user("?"), answer("", call("a", arguments=kind)), result("a"), answer("!")) for kind in kinds
    ]
    file.write_bytes(b"".join(made.data for made in rows))
    loaded = datasets.load_dataset("json", data_files=str(file), split="train", cache_dir=str(tmp_path / "cache"))
    assert [message["train"] for message in loaded[1]["messages"]] == [False, True, False, True]
    assert loaded[1]["messages"][1]["tool_calls"][0]["function"]["arguments"] == kinds[1]
    assert isinstance(loaded[0]["tools"][0]["function"]["parameters"], str)
