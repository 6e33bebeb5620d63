"""What the model no longer sees: what a person took back, and what a compaction left out."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from logs import SHOP, Claude, Codex, Gemini, Machine
from test_implied import cooked, said

WENT_BACK = [
    (None, ["Bake bread"]),
    (0, ["Bake bread", "Which?", "White"]),
    (1, ["Bake bread", "Which?", "White", "Done.", "More"]),
    (0, ["Bake bread", "Which?", "Rye"]),
]
"""Of each call its parent, by number, and what it was sent."""


def calls_in(found: dict[str, Any]) -> list[tuple[int | None, list[str]]]:
    numbers: dict[str | None, int] = {request["id"]: number for number, request in enumerate(found["requests"])}
    return [
        (numbers.get(request["parent_id"]), [text for _, text in said(found, request["request_messages"])])
        for request in found["requests"]
    ]


def test_who_goes_back_to_ask_otherwise_in_claude_code_goes_on_from_there(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    log = Claude().user("Bake bread").says("Which?").user("White").says("Done.").user("More").says("Done again.")
    log.user("Rye").says("Rye it is.")
    log.records[6]["parentUuid"] = log.records[2]["parentUuid"]
    machine.claude(log)
    assert calls_in(cooked(unspool, machine, next(machine.home.rglob(f"{SHOP}.jsonl")))) == WENT_BACK
    done = unspool("show", next(machine.home.rglob(f"{SHOP}.jsonl")), "--json", **machine.environment)
    prompts = [event for event in map(json.loads, done.stdout.splitlines()) if event["type"] == "user"]
    assert [event["content"].get("replaces") for event in prompts] == [None, None, None, prompts[1]["id"]]


def test_so_does_who_goes_back_in_gemini_cli(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    log = Gemini().user("Bake bread").says("Which?").user("White").says("Done.").user("More").says("Done again.")
    log.add(**{"$rewindTo": log.records[3]["id"]}).user("Rye").says("Rye it is.")
    machine.gemini(log)
    assert calls_in(cooked(unspool, machine, next(machine.home.rglob("session-*.jsonl")))) == WENT_BACK


@pytest.mark.parametrize(("target", "sent"), [(2, ["Bake bread", "Which?", "Rye"]), (None, ["Rye"])])
def test_what_was_asked_behind_an_answer_may_be_taken_back(
    unspool: Run, tmp_path: Path, target: int | None, sent: list[str]
) -> None:
    """The program itself takes all back for a name that nothing has."""
    machine = Machine(tmp_path)
    log = Gemini().user("Bake bread").says("Which?").user("White").says("Done.").user("More").says("Done again.")
    log.add(**{"$rewindTo": "nothing" if target is None else log.records[target]["id"]}).user("Rye").says("Rye it is.")
    machine.gemini(log)
    found = cooked(unspool, machine, next(machine.home.rglob("session-*.jsonl")))
    assert calls_in(found)[-1][1] == sent


def test_so_does_who_takes_turns_back_in_codex(unspool: Run, tmp_path: Path) -> None:
    log = Codex().user("Bake bread").says("Which?").user("White").says("Done.").user("More").says("Done again.")
    log.line("event_msg", type="thread_rolled_back", num_turns=1).line(
        "event_msg", type="thread_rolled_back", num_turns=1
    )
    path = log.user("Rye").says("Rye it is.").save(tmp_path / log.name())
    assert calls_in(json.loads(unspool("cook", path, "-q").stdout)) == WENT_BACK


def test_so_does_who_takes_them_back_by_going_on_in_another_file(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    system = {"text": "You bake."}
    log = Codex(base_instructions=system).user("Bake bread").says("Which?")
    kept = len(machine.codex(log).read_bytes())
    machine.codex(log.user("White").says("Done.").user("More").says("Done again."))
    base = {"thread_id": log.thread, "end_ordinal_exclusive": 5, "end_byte_offset": kept}
    after = Codex(day=3, history_base=base, base_instructions=system).user("Rye").says("Rye it is.")
    after.save(machine.home / ".codex/sessions/2026/03/03" / log.name().replace(".jsonl", "_019c-3.jsonl"))
    sent = calls_in(json.loads(unspool("cook", log.thread, "-q", **machine.environment).stdout))
    assert sent == [(parent, ["You bake.", *said]) for parent, said in WENT_BACK]
    shown = unspool("show", next(machine.home.rglob("*_019c-3.jsonl")), **machine.environment).stdout.decode()
    assert [shown.count(text) for text in ("Bake bread", "went back to before an earlier prompt")] == [1, 1]


@pytest.mark.parametrize("turns", [0, -1, 9, "2", None])
def test_a_log_may_take_back_more_or_less_than_there_is(unspool: Run, tmp_path: Path, turns: Any) -> None:
    log = Codex().user("Bake bread").says("Which?").line("event_msg", type="thread_rolled_back", num_turns=turns)
    path = log.user("Rye").says("Rye it is.").save(tmp_path / log.name())
    sent = [request for _, request in calls_in(json.loads(unspool("cook", path, "-q").stdout))]
    assert sent == [["Bake bread"], ["Rye"] if turns == 9 else ["Bake bread", "Which?", "Rye"]]


def chain(*told: tuple[str, str | None, str, str]) -> list[dict[str, Any]]:
    """Entries of Pi: of each its name, the name of the one before it, who spoke, and what they said."""
    header = {"type": "session", "version": 3, "id": SHOP, "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/srv/tea"}
    entries: list[dict[str, Any]] = [header]
    for name, before, role, text in told:
        about = {"id": name, "parentId": before, "timestamp": f"2026-03-01T10:00:{len(entries):02}.000Z"}
        said = {"type": "message", "message": {"role": role, "content": [{"type": "text", "text": text}]}}
        summary = {"type": "branch_summary", "fromId": before, "summary": text}
        entries.append(about | (summary if role == "summary" else said))
    return entries


def saved(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


BREAD = [
    ("a", None, "user", "Bake bread"),
    ("b", "a", "assistant", "Which?"),
    ("c", "b", "user", "White"),
    ("d", "c", "assistant", "Done."),
    ("e", "d", "user", "More"),
    ("f", "e", "assistant", "Done again."),
]


RYE = [("g", "b", "user", "Rye"), ("h", "g", "assistant", "Rye it is.")]


def test_so_does_who_begins_a_branch_in_pi(unspool: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "a.jsonl", chain(*BREAD, *RYE))
    assert calls_in(json.loads(unspool("cook", path, "-q").stdout)) == WENT_BACK


def test_the_model_is_shown_a_summary_of_the_branch_that_was_left(unspool: Run, tmp_path: Path) -> None:
    summary = ("s", "b", "summary", "White was baked.")
    path = saved(tmp_path / "a.jsonl", chain(*BREAD, summary, ("g", "s", *RYE[0][2:]), RYE[1]))
    sent = calls_in(json.loads(unspool("cook", path, "-q").stdout))
    assert sent == [*WENT_BACK[:3], (0, ["Bake bread", "Which?", "White was baked.", "Rye"])]


@pytest.mark.parametrize("summary", [[], [("s", "f", "summary", "Rye was baked.")]], ids=["alone", "with a summary"])
def test_who_takes_up_a_branch_again_goes_on_from_its_end(
    unspool: Run, tmp_path: Path, summary: list[tuple[str, str, str, str]]
) -> None:
    again = [*summary, ("i", "s" if summary else "f", "user", "Sell it"), ("j", "i", "assistant", "Sold.")]
    path = saved(tmp_path / "a.jsonl", chain(*BREAD, *RYE, *again))
    white = ["Bake bread", "Which?", "White", "Done.", "More", "Done again."]
    told = [text for *_, text in summary]
    assert calls_in(json.loads(unspool("cook", path, "-q").stdout))[-1] == (2, [*white, *told, "Sell it"])
    events = [json.loads(line) for line in unspool("show", path, "--json").stdout.splitlines()]
    turned = next(event for event in events if event["content"].get("text") in ("Sell it", "Rye was baked."))
    left = next(event for event in events if event["content"].get("text") == "Done again.")
    assert turned["content"]["follows"] == left["id"]
    assert "took up again what was left earlier" in unspool("show", path).stdout.decode()


def test_who_takes_up_a_branch_again_has_the_results_of_its_last_calls(unspool: Run, tmp_path: Path) -> None:
    entries = chain(*BREAD, ("r", "f", "toolResult", "Warm"), *RYE, ("i", "r", "user", "Sell it"))
    entries += chain(("j", "i", "assistant", "Sold."))[1:]
    entries[6]["message"]["content"].append({"type": "toolCall", "id": "1", "name": "feel", "arguments": {}})
    entries[7]["message"]["toolCallId"] = "1"
    path = saved(tmp_path / "a.jsonl", entries)
    _, sent = calls_in(json.loads(unspool("cook", path, "-q").stdout))[-1]
    assert sent[-2:] == ["Warm", "Sell it"]


def test_who_goes_back_to_before_a_compaction_has_all_again(unspool: Run, tmp_path: Path) -> None:
    entries = chain(*BREAD, ("g", "k", *RYE[0][2:]), RYE[1], ("i", "f", "user", "Sell it"), ("j", "i", *RYE[1][2:]))
    compaction = {"type": "compaction", "id": "k", "parentId": "f", "summary": "White was baked."}
    entries.insert(7, compaction | {"timestamp": entries[7]["timestamp"]})
    path = saved(tmp_path / "a.jsonl", entries)
    (_, compacted), (_, again) = calls_in(json.loads(unspool("cook", path, "-q").stdout))[-2:]
    assert compacted == ["White was baked.", "Rye"]
    assert again == ["Bake bread", "Which?", "White", "Done.", "More", "Done again.", "Sell it"]


def test_a_branch_may_begin_before_the_first_prompt_or_in_place_of_an_answer(unspool: Run, tmp_path: Path) -> None:
    more = [("g", None, "user", "Rye"), ("h", "g", "assistant", "How much?"), ("i", "c", "user", "Quickly!")]
    path = saved(tmp_path / "a.jsonl", chain(*BREAD, *more, ("j", "i", "assistant", "Here.")))
    sent = [request for _, request in calls_in(json.loads(unspool("cook", path, "-q").stdout))]
    assert sent[3:] == [["Rye"], ["Bake bread", "Which?", "White", "Quickly!"]]


def qwen(path: Path, happened: dict[str, Any], *told: tuple[str, str | None, str, str]) -> Path:
    """A log of Qwen Code. Where the system speaks, this happened."""
    records: list[dict[str, Any]] = []
    for name, before, role, text in told:
        about = {"uuid": name, "parentUuid": before, "sessionId": SHOP, "type": role, "cwd": "/srv/tea"}
        about["timestamp"] = f"2026-03-01T10:00:{len(records):02}.000Z"
        said = {"message": {"role": "user" if role == "user" else "model", "parts": [{"text": text}]}}
        records.append(about | (happened if role == "system" else said))
    return saved(path, records)


def test_so_does_who_rewinds_in_qwen_code(unspool: Run, tmp_path: Path) -> None:
    behind = [("r", "b", "system", ""), ("g", "r", "user", "Rye"), ("h", "g", "assistant", "Rye it is.")]
    rewind = {"subtype": "rewind", "systemPayload": {"truncatedCount": 4}}
    path = qwen(tmp_path / "a.jsonl", rewind, *BREAD, *behind)
    assert calls_in(json.loads(unspool("cook", path, "-q").stdout)) == WENT_BACK


def test_the_transcript_tells_that_somebody_went_back(unspool: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "a.jsonl", chain(*BREAD, ("g", "b", "user", "Rye"), ("h", "g", "assistant", "Rye it is.")))
    lines = [line.strip() for line in unspool("show", path).stdout.decode().splitlines() if line.strip()]
    before = lines[next(at for at, line in enumerate(lines) if line.endswith("Rye")) - 1]
    assert "went back to before an earlier prompt" in before


@pytest.mark.parametrize("kept", [{"firstKeptEntryId": "e"}, {"firstKeptEntryIndex": 5}, {"firstKeptEntryId": "?"}])
def test_behind_a_compaction_of_pi_the_model_still_sees_what_was_kept(
    unspool: Run, tmp_path: Path, kept: dict[str, Any]
) -> None:
    entries = chain(*BREAD, ("g", "k", "user", "Rye"), ("h", "g", "assistant", "Rye it is."))
    compaction = {"type": "compaction", "id": "k", "parentId": "f", "summary": "White was baked."}
    entries.insert(-2, compaction | {"timestamp": entries[-2]["timestamp"]} | kept)
    path = saved(tmp_path / "a.jsonl", entries)
    _, sent = calls_in(json.loads(unspool("cook", path, "-q").stdout))[-1]
    assert sent == ["White was baked.", *([] if "?" in kept.values() else ["More", "Done again."]), "Rye"]


def test_behind_a_compaction_of_codex_it_still_sees_prompts_and_its_surroundings(unspool: Run, tmp_path: Path) -> None:
    def shown(*texts: str) -> list[dict[str, Any]]:
        return [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]} for text in texts
        ]

    rules = "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\nBake.\n</INSTRUCTIONS>"
    log = Codex().line("response_item", **shown(rules)[0])
    log.user("Bake bread").says("Which?").user("White").says("Done.").user("More").says("Done again.")
    history = shown("White", rules, "<environment_context>never said</environment_context>", "More", "A summary.")
    log.line("compacted", message="A summary.", replacement_history=history)
    path = log.user("Rye").says("Rye it is.").save(tmp_path / log.name())
    _, sent = calls_in(json.loads(unspool("cook", path, "-q").stdout))[-1]
    assert sent == [rules, "White", "More", "A summary.", "Rye"]


def test_behind_a_compaction_of_opencode_it_still_sees_the_tail(unspool: Run, tmp_path: Path) -> None:
    told: list[tuple[str, dict[str, Any]]] = [(role, {"type": "text", "text": text}) for _, _, role, text in BREAD]
    told.append(("user", {"type": "compaction", "auto": True, "tail_start_id": "msg_4"}))
    told.append(("summary", {"type": "text", "text": "White was baked."}))
    told += [(role, {"type": "text", "text": text}) for role, text in (("user", "Rye"), ("assistant", "Rye it is."))]
    messages = []
    for number, (role, part) in enumerate(told):
        info: dict[str, Any] = {
            "id": f"msg_{number}",
            "sessionID": "ses_1",
            "time": {"created": 1767225600000 + number},
        }
        info |= {"role": "assistant", "summary": True} if role == "summary" else {"role": role}
        messages.append({"info": info, "parts": [part | {"id": f"prt_{number}", "messageID": info["id"]}]})
    session = {"id": "ses_1", "directory": "/srv/tea", "version": "1.18.0", "time": {"created": 1767225600000}}
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"info": session, "messages": messages}))
    _, sent = calls_in(json.loads(unspool("cook", path, "-q").stdout))[-1]
    assert sent == ["White was baked.", "More", "Done again.", "Rye"]


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize(("number", "kept"), [(4, ["More", "Done again."]), (5, ["Done again."])])
def test_behind_a_compaction_of_claude_code_it_still_sees_the_preserved_segment(
    unspool: Run, tmp_path: Path, number: int, kept: list[str], listed: bool
) -> None:
    log = Claude().user("Bake bread").says("Which?").user("White").says("Done.").user("More").says("Done again.")
    first = log.records[number]["uuid"]
    log.compacted("White was baked.").user("Rye").says("Rye it is.")
    boundary = next(record for record in log.records if record.get("subtype") == "compact_boundary")
    last = log.records[5]["uuid"]
    segment, messages = {"headUuid": first, "tailUuid": last}, {"uuids": list(dict.fromkeys([first, last]))}
    boundary["compactMetadata"] |= {"preservedMessages": messages} if listed else {"preservedSegment": segment}
    path = log.save(tmp_path / f"{SHOP}.jsonl")
    _, sent = calls_in(json.loads(unspool("cook", path, "-q").stdout))[-1]
    assert sent == ["White was baked.", *kept, "Rye"]


def test_behind_a_compression_of_gemini_cli_it_still_sees_the_end(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    log = Gemini().user("Bake bread").says("Which?").user("White").says("Done.").user("More").says("Done again.")
    snapshot: dict[str, Any] = {
        "type": "user",
        "content": [{"text": "<state_snapshot>\nWhite was baked.\n</state_snapshot>"}],
    }
    got_it = {"type": "gemini", "content": "Got it."}
    left = [{**record, "id": f"n{number}"} for number, record in enumerate([snapshot, got_it, *log.records[-2:]])]
    log.add(**{"$set": {"messages": left}}).user("Rye").says("Rye it is.")
    machine.gemini(log)
    _, sent = calls_in(cooked(unspool, machine, next(machine.home.rglob("session-*.jsonl"))))[-1]
    assert sent[0].startswith("<state_snapshot>")
    assert [text for text in sent[1:] if text != "Got it."] == ["More", "Done again.", "Rye"]


def test_behind_a_compression_of_qwen_code_it_still_sees_the_end(unspool: Run, tmp_path: Path) -> None:
    left = [{"role": "user", "parts": [{"text": text}]} for text in ("In short: white.", "More")]
    compressed = {"subtype": "chat_compression", "systemPayload": {"compressedHistory": left}}
    behind = [("k", "f", "system", ""), ("g", "k", "user", "Rye"), ("h", "g", "assistant", "Rye it is.")]
    path = qwen(tmp_path / "a.jsonl", compressed, *BREAD, *behind)
    _, sent = calls_in(json.loads(unspool("cook", path, "-q").stdout))[-1]
    assert sent == ["In short: white.", "More", "Done again.", "Rye"]
