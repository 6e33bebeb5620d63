"""Nothing in the five documents is passed by: each example is run or has a reason, each row has its tests."""

import ast
import re
from pathlib import Path

import pytest

from seeds import test_literal_cook, test_literal_others, test_literal_pretty
from seeds.documents import NAMES, ROOT, examples, needs_documents, text_of

RUN = {*test_literal_cook.RUN, *test_literal_pretty.RUN, *test_literal_others.RUN}
NOT_RUN = test_literal_others.NOT_RUN
EXAMPLES = {"000": 31, "001": 23, "002": 9, "003": 1, "004": 13}

COVERED = {
    "000: argument strings that are no JSON": "test_cook.py::test_faults_inside_a_record_cost_no_record",
    "000: errors of records": "test_cook.py::test_errors_become_an_answer_in_words",
    "000: each streamed form cut anywhere": "test_wires.py::test_golden",
    "001: a diff of an edit": "test_pretty_boxes.py::test_diffs_are_coloured",
    "001: every kind of error": "test_pretty_boxes.py::test_every_error_with_its_text",
    "001: a Slack thread for a run": "test_slack_command.py::test_a_run_is_told_in_a_thread",
    "001: going on in the last Slack thread": "test_slack_command.py::test_the_next_run_goes_on_in_the_thread",
    "001: a Slack thread by its name": "test_slack_listener.py::test_a_given_thread_comes_before_the_last_one",
    "001: Slack set up by half": "test_slack_command.py::test_what_is_set_up_by_half_is_said",
    "002: MCP servers: all calls of a turn": "test_ask_tools.py::test_all_calls_of_a_turn_are_carried_out",
    "002: MCP servers: asking a person": "test_ask_tools.py::test_a_person_is_asked",
    "002: MCP servers: a call without an answer": "test_ask_tools.py::test_what_hangs_or_dies_gets_an_answer",
    "002: asking each provider": "test_ask.py::test_an_answer_streams_and_is_stored",
    "002: one thread, any provider": "test_ask.py::test_any_provider_goes_on_with_a_thread",
    "002: cycles of turns": "test_context.py::test_a_cycle_is_an_error",
    "002: documents over 100 MB": "test_history_media.py::test_more_than_100_mb_is_refused_even_leniently",
    "002: the four cache marks": "test_history.py::test_of_many_cache_marks_the_last_four_stay_wherever_they_stand",
    "002: keys of providers": "test_ask.py::test_a_key_is_in_no_file_and_no_message",
    "003: rules of the integrity report": "test_squash_integrity.py",
    "003: all clean-up rules": "test_goose.py",
    "003: tags inside of texts": "test_inline.py::test_inlined_messages_can_be_read_again",
    "004: which tools there are": "test_tools.py::test_every_tool_of_every_agent_by_its_own_name",
    "004: tools that differ from what we know": "test_tools.py::test_differences_from_what_we_expect",
    "004: all of an event": "test_show.py::test_every_event_has_exactly_its_eight_keys",
    "004: the payload of each agent": "test_show.py::test_the_payload_of_codex_is_the_inner_object",
    "004: the parser of patches": "test_patch.py::test_the_whole_grammar",
    "004: the mapping": "test_patch.py::test_one_action_a_file_in_order_and_two_for_one_that_moves",
}
"""Rows that other tests check already: a module, or a test in it."""


@needs_documents
@pytest.mark.parametrize("document", NAMES)
def test_every_example_is_run_or_has_a_reason(document: str) -> None:
    keys = [example.key for example in examples(document)]
    assert len(keys) == EXAMPLES[document] == text_of(document).count("\n```") / 2
    assert [key for key in keys if (key in RUN) == (key in NOT_RUN)] == []


@needs_documents
def test_only_examples_that_exist_are_named() -> None:
    keys = {example.key for document in NAMES for example in examples(document)}
    assert {*RUN, *NOT_RUN} == keys
    assert all(len(reason) > 20 for reason in NOT_RUN.values())


@pytest.mark.parametrize(("row", "place"), COVERED.items())
def test_rows_that_other_tests_cover(row: str, place: str) -> None:
    assert row[:3] in NAMES
    path, _, name = place.partition("::")
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    tests = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert name in tests if name else any(each.startswith("test_") for each in tests)


@needs_documents
def test_rows_of_the_tables_of_document_000_are_known() -> None:
    """A row whose first two cells are new to us has no test."""
    rows = re.findall(r"^\| (?!-)(.+?) \|", text_of("000"), re.MULTILINE)
    heads = {"Source", "Block Type", "Event Data Field", "Event Type"}
    source = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py"))
    words = {word for row in rows if row not in heads for word in re.findall(r"`([a-z_.\[\]0-9]+)`", row)}
    last = {re.split(r"[.\]]+", word.strip("."))[-1] for word in words}
    assert len(rows) > 30
    assert [word for word in sorted(last) if word not in source] == []
