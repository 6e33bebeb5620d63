"""Answers that come back in the next request in another dress: in the tree they are the answers that they were."""

from pathlib import Path

from entries import Log, calls, result, says, system, trained, user


def test_calls_without_ids_have_those_that_the_client_gave_them(tmp_path: Path) -> None:
    log = Log()
    history = [system(), user("Mend the login")]
    for number, command in enumerate(("make", "make test", "make install")):
        said = calls(command=command)
        del said["tool_calls"][0]["id"]
        log.ask(history, said)
        history = [*history, calls(ids=(f"id-{number}",), command=command), result(f"{number} failed", f"id-{number}")]
    log.ask(history, says("Done"))
    (record,) = log.records(tmp_path)
    asked = [call["id"] for message in record.messages for call in message.get("tool_calls") or ()]
    given = [message["tool_call_id"] for message in record.messages if message["role"] == "tool"]
    assert asked == given == ["id-0", "id-1", "id-2"]
    assert trained(record) == [2, 4, 6, 8]


def test_thoughts_that_come_back_in_tags_make_no_other_answer(tmp_path: Path) -> None:
    log = Log()
    history = log.ask([user("Tea?")], says("Yes, please.", reasoning_content="Tea is good."))
    history[-1] = says("<think>\nTea is good.\n</think>\n\nYes, please.")
    log.ask([*history, user("Milk?")], says("No."))
    (record,) = log.records(tmp_path)
    assert record.messages[1] == says("Yes, please.", reasoning_content="Tea is good.")
    assert trained(record) == [1, 3]


def test_what_a_tool_of_the_provider_gave_may_be_left_out_of_the_history(tmp_path: Path) -> None:
    ran = {"type": "server_tool_use", "id": "srv_1", "name": "code_execution", "input": {"code": "4 * 4"}}
    gave = {"type": "code_execution_result", "stdout": "16", "stderr": "", "return_code": 0, "content": []}
    result = {"type": "code_execution_tool_result", "tool_use_id": "srv_1", "content": gave}
    answer = {"type": "text", "text": "It is 16."}
    asked = {"role": "user", "content": "What is 4 * 4?"}
    calls = [
        ([asked], [ran, result, answer]),
        ([asked, {"role": "assistant", "content": [ran, answer]}, {"role": "user", "content": "And half?"}], [answer]),
    ]
    entries = [
        {
            "timestamp": f"2026-03-02T10:00:0{second}Z",
            "request": {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages},
            "response": {"type": "message", "role": "assistant", "id": f"msg_{second}", "content": said},
        }
        for second, (messages, said) in enumerate(calls)
    ]
    log = Log()
    log.entries = entries
    (record,) = log.records(tmp_path)
    assert [message["role"] for message in record.messages] == "user assistant tool assistant user assistant".split()
    assert trained(record) == [1, 3, 5]


def test_side_by_side_the_same_call_is_not_the_same_answer(tmp_path: Path) -> None:
    log = Log()
    shed, attic, cellar = ([user(f"Search the {place}")] for place in ("shed", "attic", "cellar"))
    log.ask([*log.ask(shed, calls(ids=("a",), command="ls")), result("a spade", "a")], says("A spade"))
    again = log.ask(shed, calls(ids=("b",), command="ls"))
    above = log.ask(attic, calls(ids=("c",), command="ls"))
    log.ask([*again, result("a rake", "b")], says("A rake"))
    below = log.ask(cellar, calls(ids=("d",), command="ls"))
    log.ask([*above, result("a lamp", "c")], says("A lamp"))
    log.ask([*below, result("a cask", "d")], says("A cask"))
    found = {(record.messages[0]["content"], record.messages[-1]["content"]) for record in log.records(tmp_path)}
    assert found == {
        ("Search the shed", "A spade"),
        ("Search the shed", "A rake"),
        ("Search the attic", "A lamp"),
        ("Search the cellar", "A cask"),
    }
