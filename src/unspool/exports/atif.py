"""`atif`: the Agent Trajectory Interchange Format, v1.7. A file a record: one trajectory.

An answer is a step, with its calls and, in the same step, their results. Steps that an earlier record is trained on are
`is_copied_context`. Sub-agents stand in the trajectory that called them, and their call's result refers to them; a
trajectory that was compacted refers to the file that continues it. What has no field of its own is in `extra`:
nothing is lost.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from unspool.exports.content import Call, Said, content_of, marked, said
from unspool.exports.training import Encoded, Format, Losses, Options, file_name
from unspool.model.record import TrainingRecord
from unspool.model.session import Tokens
from unspool.sources.values import iso_time

_ENDING = ".json"
VERSION = "ATIF-v1.7"
_UNKNOWN = "unknown"
_SOURCES = {"system": "system", "user": "user", "assistant": "agent"}
_DATA = re.compile(r"data:(image/(?:jpeg|png|gif|webp))[;,]")
_NAMED = re.compile(r"\.(jpe?g|png|gif|webp)(?:$|[?#])", re.IGNORECASE)
_HELD = ("role", "content", "tool_calls", "function_call", "tool_call_id", "reasoning_content", "reasoning", "thinking")


def encode_session(records: Sequence[TrainingRecord], _options: Options) -> Iterator[Encoded]:
    """Each record whose caller is not among them. Sub-agents are part of their caller's."""
    ids = {record.id for record in records}
    agents: dict[str, list[TrainingRecord]] = defaultdict(list)
    next_part: dict[str, str] = {}
    for record in records:
        if record.parent in ids and record.parent != record.id:
            if record.relation == "subagent":
                agents[record.parent or ""].append(record)
            elif record.relation == "compaction":
                next_part.setdefault(record.parent or "", file_name(record, _ENDING))
    inside = {id(record) for called in agents.values() for record in called}
    for record in records:
        if id(record) not in inside:
            row = _Trajectory(record).write(agents, next_part)
            yield Encoded(record, [row] if row else [], Losses(), None if row else "no message")


class _Trajectory:
    def __init__(self, record: TrainingRecord) -> None:
        self._record = record
        self._steps: list[dict[str, Any]] = []
        self._results: dict[str, dict[str, Any]] = {}
        """The newest result of each call, by its id."""
        self._callers: dict[str, dict[str, Any]] = {}
        """The step that made each call; of several with one id, the newest."""

    def write(self, agents: dict[str, list[TrainingRecord]], next_part: dict[str, str]) -> dict[str, Any] | None:
        record = self._record
        for one in said(record, Losses()):
            self._add(one)
        if not self._steps:
            return None
        self._mark_copies()
        called = [self._called(agent, agents, next_part) for agent in agents.get(record.id, ())]
        return _without_none(
            {
                "schema_version": VERSION,
                "session_id": record.session,
                "trajectory_id": record.id or record.session,
                "agent": _without_none(
                    {
                        "name": record.agent or _UNKNOWN,
                        "version": _UNKNOWN,
                        "model_name": record.model,
                        "tool_definitions": record.tools or None,
                    }
                ),
                "steps": [{"step_id": number} | step for number, step in enumerate(self._steps, 1)],
                "final_metrics": self._sums(),
                "continued_trajectory_ref": next_part.get(record.id),
                "extra": _facts(record),
                "subagent_trajectories": [agent for agent in called if agent] or None,
            }
        )

    def _add(self, one: Said) -> None:
        if one.role == "tool":
            self._add_result(one)
            return
        turn = one.turn
        step: dict[str, Any] = {"source": _SOURCES[one.role], "message": content_of(one, Losses(), _image)}
        if (time := iso_time(turn.time)) is not None:
            step["timestamp"] = time
        extra = _extra(one)
        if one.role == "assistant":
            step |= _without_none(
                {
                    "model_name": turn.model,
                    "reasoning_content": one.thoughts or None,
                    "tool_calls": [_call(call) for call in one.calls] or None,
                    "metrics": _metrics(turn.tokens),
                    "llm_call_count": 1 if turn.generated and turn.tokens else None,
                }
            )
            extra |= _without_none({"generated": turn.generated or None, "stop": turn.stop})
            self._callers |= dict.fromkeys((call.id for call in one.calls), step)
        if extra:
            step["extra"] = extra
        self._steps.append(step)

    def _add_result(self, one: Said) -> None:
        """To the step of its call; a result without one to the newest step."""
        caller = self._callers.get(one.answers or "")
        result: dict[str, Any] = {"content": content_of(one, Losses(), _image)}
        extra = _extra(one)
        if caller is not None:
            result = {"source_call_id": one.answers} | result
            self._results[one.answers or ""] = result
        elif one.answers:
            extra["tool_call_id"] = one.answers
        if extra:
            result["extra"] = extra
        if caller is None and not self._steps:
            self._steps.append({"source": "system", "message": ""})
        step = caller if caller is not None else self._steps[-1]
        step.setdefault("observation", {"results": []})["results"].append(result)

    def _mark_copies(self) -> None:
        """What stands before the last answer that is not trained on, until one is; and later answers that are not."""
        record = self._record
        if not marked(record):
            return
        own = [turn for turn in record.turns if turn.message.get("role") == "assistant"]
        steps = [step for step in self._steps if step["source"] == "agent"]
        copied = [step for step, turn in zip(steps, own, strict=True) if not turn.train]
        begun = next((place for place, turn in enumerate(own) if turn.train), len(own))
        for step in copied:
            step["is_copied_context"] = True
        if begun:
            last = next(place for place, step in enumerate(self._steps) if step is steps[begun - 1])
            for step in self._steps[:last]:
                step["is_copied_context"] = True

    def _called(
        self, agent: TrainingRecord, agents: dict[str, list[TrainingRecord]], next_part: dict[str, str]
    ) -> dict[str, Any] | None:
        """A sub-agent's own trajectory, after the result of its call was made to refer to it."""
        row = _Trajectory(agent).write(agents, next_part)
        step = self._callers.get(agent.call or "")
        if row is None or step is None or agent.call is None:
            return row
        result = self._results.get(agent.call)
        if result is None:
            result = self._results[agent.call] = {"source_call_id": agent.call}
            step.setdefault("observation", {"results": []})["results"].append(result)
        reference = {"trajectory_id": row["trajectory_id"], "session_id": row["session_id"]}
        result.setdefault("subagent_trajectory_ref", []).append(reference)
        return row

    def _sums(self) -> dict[str, Any]:
        tokens = [turn.tokens for turn in self._record.turns if turn.tokens is not None]
        sums: dict[str, Any] = {"total_steps": len(self._steps)}
        if tokens:
            all_of_them = sum(tokens, Tokens())
            sums |= {
                "total_prompt_tokens": _prompt(all_of_them),
                "total_completion_tokens": all_of_them.output,
                "total_cached_tokens": all_of_them.cache_read,
            }
        return sums


def _call(call: Call) -> dict[str, Any]:
    written: dict[str, Any] = {"tool_call_id": call.id, "function_name": call.name, "arguments": call.arguments or {}}
    return written if call.arguments is not None else written | {"extra": {"arguments": call.text}}


def _metrics(tokens: Tokens | None) -> dict[str, Any] | None:
    if tokens is None:
        return None
    metrics = {
        "prompt_tokens": _prompt(tokens),
        "completion_tokens": tokens.output,
        "cached_tokens": tokens.cache_read,
    }
    more = {"reasoning_tokens": tokens.reasoning, "cache_creation_input_tokens": tokens.cache_write}
    if tokens.cache_write_1h:
        more["ephemeral_1h_input_tokens"] = tokens.cache_write_1h  # part of the line above
    return metrics | ({"extra": more} if any(more.values()) else {})


def _prompt(tokens: Tokens) -> int:
    return tokens.input + tokens.cache_read + tokens.cache_write


def _image(url: str) -> dict[str, Any] | None:
    if found := _DATA.match(url):
        kind = found[1]
    elif found := _NAMED.search(url):
        kind = f"image/{found[1].lower().replace('jpg', 'jpeg')}"
    else:
        return None
    return {"type": "image", "source": {"media_type": kind, "path": url}}


def _extra(one: Said) -> dict[str, Any]:
    """Fields of the message that no field of a step holds, and content that is neither text nor such an image."""
    extra = {key: value for key, value in one.message.items() if key not in _HELD and value is not None}
    lost = Losses()
    content_of(one, lost, _image)
    if lost.total():
        extra["content"] = one.content
    if (role := one.message.get("role")) not in (*_SOURCES, "tool"):
        extra["role"] = role
    if one.role == "tool" and one.name and "name" not in extra:
        extra["name"] = one.name
    return extra


def _facts(record: TrainingRecord) -> dict[str, Any]:
    facts = {
        "relation": record.relation,
        "parent": record.parent,
        "call": record.call,
        "source": record.source,
        "date": record.date,
        "scenario": record.scenario or None,
    }
    return _without_none(facts)


def _without_none(value: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in value.items() if each is not None}


form = Format(_ENDING, encode_session, each=True)
