"""The graph's rows: each request told by what is new in it."""

from pathlib import Path

from unspool.jobs.view.catalog import Catalog
from unspool.jobs.view.loaded import Loaded
from unspool.jobs.view.meanings import one_line
from unspool.jobs.view.pages import GraphRow
from unspool.jobs.view.reels import Reel
from unspool.jobs.view.rows import headline
from viewing import Agent, a_day


def opened(*paths: Path) -> tuple[Reel, Loaded]:
    (reel,) = Catalog([str(path) for path in paths])
    return reel, reel.load()


def rows(agent: Agent, tmp_path: Path) -> list[GraphRow]:
    return opened(agent.save(tmp_path / "trace.jsonl"))[1].rows


def test_a_request_is_told_by_the_prompt_or_by_what_its_answer_does(tmp_path: Path) -> None:
    told = [(row.kind, row.title, row.does) for row in rows(a_day(), tmp_path)]
    assert told == [
        ("prompt", "Make the tests pass", "Read src/a.py"),
        ("tools", "Bash pytest -q", ""),
        ("error", "529 Overloaded", ""),
        ("tools", "Edit src/a.py +1 −1", ""),
        ("answer", "Two changes: f returns 1.", ""),
    ]


def test_a_failed_tool_marks_the_request_that_called_it(tmp_path: Path) -> None:
    assert [row.failed for row in rows(a_day(), tmp_path)] == [False, True, False, False, False]


def test_retries_and_parents(tmp_path: Path) -> None:
    found = rows(a_day(), tmp_path)
    assert [(row.parent, row.reason, row.retry_of) for row in found] == [
        (None, None, None),
        (0, "continues", None),
        (1, "continues", None),
        (1, "retry", 2),
        (3, "continues", None),
    ]


def test_reminders_are_no_prompt(tmp_path: Path) -> None:
    agent = Agent().asks("<system-reminder>Be brief.</system-reminder>").asks("Hello").says("Hi")
    assert rows(agent, tmp_path)[0].title == "Hello"


def test_tokens_cost_and_what_was_added(tmp_path: Path) -> None:
    first, second = rows(Agent().asks("One").says("1").asks("Two").says("2"), tmp_path)
    assert first.usage is not None
    assert first.usage.cache_write == 4500
    assert first.added is None
    assert second.added == 500
    # 10 new, 4,500 read and 500 written at $3, $0.3 and $3.75 a million, 50 out at $15
    assert second.cost is not None
    assert round(second.cost * 1e6) == 10 * 3 + 4500 * 0.3 + 500 * 3.75 + 50 * 15


def test_a_model_without_a_price_costs_nothing_that_we_know(tmp_path: Path) -> None:
    agent = Agent(model="no-such-model").asks("One").says("1")
    assert [row.cost for row in rows(agent, tmp_path)] == [None]


def test_a_server_that_does_not_count_took_nothing_away_and_not_nothing(tmp_path: Path) -> None:
    agent = Agent().asks("One").says("1").asks("Two").says("2").asks("Three").says("3")
    agent.records[1]["response"]["usage"] = {"input_tokens": 0, "output_tokens": 0}
    first, second, third = rows(agent, tmp_path)
    assert first.cost is not None
    assert (second.cost, second.added) == (None, None)
    assert third.added == 1000


def test_a_sum_says_if_it_lacks_a_call_whose_tokens_nobody_counted(tmp_path: Path) -> None:
    agent = Agent().asks("One").says("1").fails().asks("Two").says("2")
    reel, loaded = opened(agent.save(tmp_path / "whole.jsonl"))
    assert [row.uncounted for row in loaded.rows] == [False, False, False]
    assert reel.row().priced
    del agent.records[2]["response"]["usage"]
    reel, loaded = opened(agent.save(tmp_path / "part.jsonl"))
    assert [row.uncounted for row in loaded.rows] == [False, False, True]
    assert not reel.row().priced


def test_a_sub_agent_hangs_at_the_call_that_asked_for_it(tmp_path: Path) -> None:
    main = Agent().asks("Find it").calls("t1", "Agent", description="look around", prompt="Look in src/.")
    other = Agent(model="claude-haiku-4-5", start=main.time)
    other.system, other.tools = "You look around.", []
    other.asks("Look in src/.").says("src/a.py")
    for record in other.records:
        record["id"] = f"agent-{record['id']}"
    main.records += other.records
    child = rows(main, tmp_path)[1]
    assert (child.parent, child.reason, child.label, child.root) == (0, "agent", "look around", 0)
    assert (child.agent, child.call) == ("claude_code", "t1")


def test_what_a_log_says_was_typed_is_the_prompt(tmp_path: Path) -> None:
    from logs import Claude

    log = Claude().user("Mend it").calls("t1", "Bash", command="make").result("t1", "ok").says("Done")
    (row, *_) = opened(log.save(tmp_path / "log.jsonl"))[1].rows
    assert (row.kind, row.title) == ("prompt", "Mend it")


def test_a_thousand_requests_are_paged(tmp_path: Path) -> None:
    from unspool.jobs.view.messages import graph

    agent = Agent().asks("Count")
    for number in range(30):
        agent.says(str(number)).asks("More")
    page = graph(*opened(agent.save(tmp_path / "t.jsonl")), 20, most=5)
    assert (page.total, page.start, [row.id for row in page.rows]) == (30, 20, [f"c{n}" for n in range(20, 25)])


def test_a_notice_of_a_task_is_told_by_what_it_says() -> None:
    notice = '<task-id>a1</task-id>\n<status>completed</status>\n<summary>Agent "Review" finished</summary>\n<result>'
    assert headline(notice) == 'Agent "Review" finished'
    assert headline(f"<task-notification>\n{notice}") == 'Agent "Review" finished'
    assert headline("What is <summary>this</summary>?") == "What is <summary>this</summary>?"


def test_a_title_steers_nothing() -> None:
    assert (
        one_line("\x1b[31mred\x1b[0m\x00 and \u202eturned\u202c \x1b]0;title\x07 text\n next")
        == "red and turned text next"
    )
    assert one_line("日本 \u200bé") == "日本 \u200bé"
