"""Factory Droid's tools. Those on servers are called `server___tool`, with three underscores."""

import re

from unspool.actions.files import ApplyPatch, EditFile, Edits, ReadFile, WriteFile
from unspool.actions.servers import doubled
from unspool.actions.shapes import (
    Apart,
    Delegate,
    Fetch,
    Find,
    Glob,
    KillShell,
    Look,
    OnShell,
    PlanText,
    RunCommand,
    SearchWeb,
    Todos,
    UseSkill,
    WriteShell,
)
from unspool.actions.vocabulary import Call, Vocabulary, each
from unspool.model import Action
from unspool.model.action import Agent, Ask

_LINE = re.compile(r"\d+\.\s*\[question\]\s*+(.+)|\[option\]\s*+(.+)")


class Execute(RunCommand, frozen=True, gc=False):
    spelled = RunCommand.spelled | {"summary": "description"}


class Propose(PlanText, frozen=True, gc=False):
    spelled = PlanText.spelled | {"proposal": "text"}


class Job(Call, frozen=True, gc=False):
    prompt: str


class Later(Call, frozen=True, gc=False):
    """A prompt for the agent itself, or for a new session, at other times."""

    renamed = ("job",)
    job: Job

    def action(self) -> Action:
        return Agent(prompt=self.job.prompt)


class AskUser(Call, frozen=True, gc=False):
    """The questions are one text: `1. [question] Which?`, then a line for each `[option]`."""

    questionnaire: str

    def action(self) -> Action:
        return (self._asked() or [Ask(self.questionnaire)])[0]

    def actions(self) -> tuple[Action, ...]:
        return each(self._asked())

    def _asked(self) -> list[Ask]:
        asked: list[tuple[str, list[str]]] = []
        for line in self.questionnaire.splitlines():
            match = _LINE.match(line.strip())
            if match and match[1]:
                asked.append((match[1], []))
            elif match and asked:
                asked[-1][1].append(match[2])
        return [Ask(question, tuple(options)) for question, options in asked]


TOOLS: dict[str, type[Call]] = {
    "Read": ReadFile,
    "Create": WriteFile,
    "Write": WriteFile,
    "Edit": EditFile,
    "MultiEdit": Edits,
    "ApplyPatch": ApplyPatch,
    "Execute": Execute,
    "Shell": RunCommand,
    "Bash": RunCommand,
    "TaskOutput": OnShell,
    "TaskStop": KillShell,
    "KillProcess": KillShell,
    "PipeProcessInput": WriteShell,
    "LS": Look,
    "Glob": Glob,
    "Grep": Find,
    "WebSearch": SearchWeb,
    "FetchUrl": Fetch,
    "TodoWrite": Todos,
    "ExitSpecMode": PlanText,
    "ProposeMission": Propose,
    "AskUser": AskUser,
    "Task": Delegate,
    "Skill": UseSkill,
    "CronCreate": Later,
    "CreateAutomation": Delegate,
    "EditAutomation": Delegate,
    **dict.fromkeys(
        (
            *("ConnectorSearch", "EndFeatureRun", "GenerateDroid", "Loop", "StoreAgentReadinessReport", "ToolSearch"),
            *("slack_post_file", "slack_post_message", "CronDelete", "CronList", "DeleteAutomation"),
            *("DismissHandoffItems", "GenerateImage", "ListAutomations", "ListAutomationTemplates", "ReadAutomation"),
            *("StageSettingsChanges", "StartMissionRun", "UpgradeSessionModel"),
        ),
        Apart,
    ),
}

VOCABULARY = Vocabulary("droid", TOOLS, doubled)
