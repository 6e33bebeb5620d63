import json
import sys
from pathlib import Path
from typing import Any

import pytest

from training import FULL, SEARCH, WEATHER, answer, call, encoded, record, result, user
from unspool.errors import UnspoolError
from unspool.exports import parquet
from unspool.exports.training import Encoded, Options, format_for

TEXT = Options(json_columns="string")
KINDS = ['{"days": 2}', '{"days": "two"}', '{"days": [1.5, {"a": null}]}', "not json"]


def test_a_row_counts_and_names_what_is_in_it() -> None:
    (row,) = encoded("parquet", *FULL, relation="retry", parent="r0", train={7}).rows
    assert row["prompt"] == "Is it sunny in Łódź and Kraków?"
    assert (row["num_user_messages"], row["num_tool_calls"], row["file_path"]) == (2, 2, "logs/s1.jsonl")
    assert row["messages"][2]["tool_calls"][1]["function"]["arguments"] == {"city": "Kraków", "days": 2}
    assert row["messages"][6] == FULL[6]
    assert (row["harness"], row["sent_at"]) == ("codex", "2025-12-29T09:20:00.002Z")
    assert row["metadata"] | {"relation": "retry", "parent": "r0", "model": "m-1"} == row["metadata"]
    assert [bool(turn.get("train")) for turn in row["metadata"]["turns"]] == [False] * 7 + [True]


def test_without_pyarrow_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UnspoolError, match=r"unspool\[parquet\]"):
        written(tmp_path, Options(), [])


def written(folder: Path, options: Options, made: list[Encoded]) -> Path:
    part, final = folder / "part", folder / "a.parquet"
    part.write_bytes(b"".join(each.data for each in made))
    parquet.into_file(part, final, options)
    return final


def some() -> list[Encoded]:
    others = [encoded("parquet", user("?"), answer(None, call("a", arguments=kind)), result("a")) for kind in KINDS]
    return [encoded("parquet", *FULL, tools=[WEATHER, SEARCH]), *others]


def test_the_columns_are_json_and_packed_with_zstd(tmp_path: Path) -> None:
    arrow, reader = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = reader.ParquetFile(written(tmp_path, Options(), some()))
    assert file.schema_arrow.field("messages").type == arrow.list_(arrow.json_())
    assert file.schema_arrow.field("metadata").type == arrow.json_()
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"


def test_datasets_reads_json_of_any_shape_back(tmp_path: Path) -> None:
    loaded = load(tmp_path, Options())
    assert [row["messages"] for row in loaded] == [each.rows[0]["messages"] for each in some()]
    assert loaded[0]["tools"] == [WEATHER, SEARCH]
    assert loaded[0]["metadata"]["turns"][7]["train"] is True
    assert loaded[4]["messages"][1]["tool_calls"][0]["function"]["arguments"] == "not json"
    assert loaded[0]["trace"] is None


def test_older_readers_get_text(tmp_path: Path) -> None:
    loaded = load(tmp_path, TEXT)
    assert [json.loads(text) for text in loaded[0]["messages"]] == some()[0].rows[0]["messages"]
    assert json.loads(loaded[0]["metadata"])["model"] == "m-1"


def test_the_columns_are_those_of_datasets_own_traces(tmp_path: Path) -> None:
    own = pytest.importorskip("datasets.packaged_modules.json.json").AGENT_TRACES_FEATURES
    loaded = load(tmp_path, Options())
    assert dict(loaded.features) == dict(own)


def load(folder: Path, options: Options) -> Any:
    datasets = pytest.importorskip("datasets")
    file = written(folder, options, some())
    return datasets.load_dataset("parquet", data_files=str(file), split="train", cache_dir=str(folder / "cache"))


def test_the_same_rows_give_the_same_bytes_in_several_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(parquet, "_GROUP", 2000)
    first = written(tmp_path, Options(), some())
    assert reader.ParquetFile(first).num_row_groups > 1
    before = first.read_bytes()
    assert written(tmp_path, Options(), some()).read_bytes() == before


def test_no_record_gives_an_empty_table(tmp_path: Path) -> None:
    reader = pytest.importorskip("pyarrow.parquet")
    table = reader.ParquetFile(written(tmp_path, Options(), []))
    assert table.metadata.num_rows == 0
    assert table.schema_arrow.names[0] == "harness"


def test_a_record_keeps_its_messages_as_they_stand() -> None:
    before = record(*FULL)
    (made,) = format_for("parquet").encode([before])
    assert [message | {"tool_calls": None} for message in made.rows[0]["messages"]] == [
        message | {"tool_calls": None} for message in before.messages
    ]
