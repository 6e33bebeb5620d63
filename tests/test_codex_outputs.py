"""Codex: which outputs tell of a failure, and which of a call that was stopped or not allowed."""

import pytest

from unspool.readers.codex.outputs import output_of, was_stopped

STOPPED = [
    "aborted by user after 2.1s",
    "Wall time: 3.0 seconds\naborted by user",
    "approval policy is Never; reject command",
    "approval required by policy, but nobody may be asked",
    "exec command rejected by user",
    "Command blocked by PreToolUse hook: not here. Command: rm x",
    "Tool call blocked by PreToolUse hook: not here. Tool: draw",
    "This action was rejected due to unacceptable risk.",
    "`rm -rf x` rejected: policy forbids commands starting with `rm`",
    "`pwsh -Command 'npm test'` rejected: blocked by policy",
    "user rejected MCP tool call",
]
FAILED = [
    "unable to locate image at `/w/x.png`: not found",
    "image path `/w` is not a file",
    "view_image is not allowed because you do not support image inputs",
    "view_image.detail only supports `high`; got `low`",
    "request_user_input is unavailable in Default mode",
    "questions must not be empty",
    "duration_ms must be between 1 and 9",
    "exec expects raw JavaScript source text (non-empty).",
    "update_plan is a TODO/checklist tool and is not allowed in Plan mode",
    "agent with id 7 not found",
    "collab tool failed: no more",
    "Agent depth limit reached. Solve the task yourself.",
    "resources/read failed: unknown server",
    'Network access to "example.org" is blocked by policy.',
    "Process exited with code 7\nOutput:\nboom",
    "Wall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nboom",
]
FINE = [
    "Process exited with code 0\nOutput:\nok",
    "Chunk ID: 1\nProcess exited with code 0\nOutput:\nProcess exited with code 1",
    "Wall time: 3.0 seconds\nOutput:\naborted by user",
    "`git status` prints nothing",
    "resources/pictures/a.png\nresources/pictures/b.png",
    "images: 3",
]


@pytest.mark.parametrize("text", STOPPED)
def test_a_call_that_was_not_let_run_failed_and_was_interrupted(text: str) -> None:
    assert output_of(text) == (text, True)
    assert was_stopped(text)


@pytest.mark.parametrize("text", FAILED)
def test_what_could_not_be_done_is_a_failure(text: str) -> None:
    assert output_of(text) == (text, True)
    assert not was_stopped(text)


@pytest.mark.parametrize("text", FINE)
def test_words_of_a_failure_elsewhere_are_none(text: str) -> None:
    assert output_of(text) == (text, False)


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ('{"stdout":"","stderr":"boom","exit_code":1}', True),
        ('{"output":"ok","exit_code":0}', False),
        ('{"answer":1}', False),
    ],
)
def test_an_exit_code_beside_what_was_printed(text: str, failed: bool) -> None:
    assert output_of(text) == (text, failed)


def test_a_file_is_told_by_its_name() -> None:
    part = {"type": "input_file", "filename": "tides.pdf", "file_data": "data:application/pdf;base64,QUJD"}
    assert output_of([part]) == ("[document: tides.pdf]", False)
