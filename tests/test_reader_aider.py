"""Aider: whose line it is, runs of the same second, edits in texts, and histories that grow."""

from pathlib import Path

from unspool.dialect import Record
from unspool.model import Event, Note, Origin
from unspool.model.action import FileEdit, FileWrite
from unspool.model.event import Notification, Said, SlashCommand, TokenUsage, User
from unspool.readers import aider
from unspool.readers.aider.edits import edits_in, whole_file

CASE = Path(__file__).parent / "readers/aider/edits.md"


def read(text: str, path: str = "a.md") -> list[Event]:
    decoder = aider.reader.decoder(path)
    items: list[Event | Note] = []
    for number, line in enumerate(text.encode().split(b"\n"), 1):
        if line.strip():
            items += decoder.feed(Record(line, Origin(path, number, 0, len(line))))
    return [item for item in (*items, *decoder.close()) if isinstance(item, Event)]


def test_aiders_own_lines_end_in_blanks() -> None:
    run = "# aider chat started at 2026-01-02 03:04:05\n> Aider v1  \n#### typed  \n\n#### a heading\n> a quote\n"
    assert [event.content for event in read(run)] == [
        Notification("Aider v1", "info"),
        User("typed"),
        Said("#### a heading\n> a quote"),
    ]
    assert [type(event.content) for event in read(run.replace("  \n", "\n"))] == [
        Notification,
        User,
        User,
        Notification,
    ]


def test_nobody_answers_before_somebody_asked() -> None:
    """The command line of a run is written into its history, with all lines of the message that it was given."""
    given = "> aider --message # Kettles\n\nBoil one.\n\n> Aider v0.86.1  \n\n#### # Kettles  \n\nIt boils.\n"
    events = read(f"# aider chat started at 2026-01-02 03:04:05\n\n> Added .aider*  \n{given}")
    assert [event.type for event in events] == ["notification"] * 3 + ["user", "message"]
    assert events[1].content == Notification("aider --message # Kettles\n\nBoil one.", "info")


def test_an_answer_to_a_question_of_the_program_is_no_prompt() -> None:
    asked = "Add file to the chat? (Y)es/(N)o/(A)ll/(S)kip all/(D)on't ask again [Yes]: skip"
    events = read(f"# aider chat started at 2026-01-02 03:04:05\n> Aider v1  \n#### typed  \n\n#### {asked}  \n")
    assert [event.content for event in events[1:]] == [User("typed"), Notification(asked, "info")]


def test_what_the_program_says_in_many_lines_is_not_the_models() -> None:
    """One mark before the first line and two blanks behind the last; empty lines may stand between."""
    told = "> commit 12\nAuthor: Ada\n\n    Boil\n> quoted  \n"
    asked = "#### boil  \n\nIt boils.\n> So it does.\n\n> Tokens: 9 sent, 1 received.  \n"
    asked += "> npm i\nnpm test  \n> Run them?  \n"
    events = read(f"# aider chat started at 2026-01-02 03:04:05\n\n> Aider v1  \n\n#### /git log  \n{told}\n{asked}")
    assert [event.content for event in events if not isinstance(event.content, TokenUsage)][1:] == [
        SlashCommand("/git", "log"),
        Notification("commit 12\nAuthor: Ada\n\n    Boil", "info"),
        Notification("quoted", "info"),
        User("boil"),
        Said("It boils.\n> So it does."),
        Notification("npm i\nnpm test", "info"),
        Notification("Run them?", "info"),
    ]


def test_a_command_line_of_many_lines_does_not_hide_how_lines_end() -> None:
    run = "# aider chat started at 2026-01-02 03:04:05\n\n> aider --message a\nb  \n"
    run += "> Aider v1  \n\n#### a  \n\n> a quote\n"
    assert [event.content for event in read(run)][-2:] == [User("a"), Said("> a quote")]


def test_the_model_in_each_way_of_naming_it() -> None:
    lines = {
        "Model: kettle-1": "kettle-1",
        "Model: kettle-1 using diff edit format": "kettle-1",
        "Models: a/kettle-2 with diff edit format, weak model cup-1": "a/kettle-2",
        "Main model: kettle-3 with architect edit format, 32k think tokens": "kettle-3",
        "Model: not a name of one": None,
    }
    for line, model in lines.items():
        decoder = aider.reader.decoder("a.md")
        for number, text in enumerate(("# aider chat started at 2026-01-02 03:04:05", f"> {line}  "), 1):
            list(decoder.feed(Record(text.encode(), Origin("a.md", number, 0, 0))))
        list(decoder.close())
        assert [facts.model for facts in decoder.sessions.values()] == [model], line


def test_commands_and_errors() -> None:
    run = "# aider chat started at 2026-01-02 03:04:05\n> BadRequestError: no such model  \n\n#### /ask  \n#### why  \n"
    assert [event.content for event in read(run)] == [
        Notification("BadRequestError: no such model", "error"),
        SlashCommand("/ask", "why"),
    ]


def test_what_the_program_hands_on_is_no_prompt() -> None:
    """An architect's answer goes to the editor as if it were typed, and so does what was looked up for a question."""
    plan = "Boil it in the kettle.\n\n```\nboil(  kettle)\n```"
    handed = "".join(f"#### {line}  \n" for line in plan.split("\n"))
    run = "# aider chat started at 2026-01-02 03:04:05\n> Aider v1  \n\n#### boil  \n\n"
    run += f"{plan}\n\n> Edit the files? (Y)es/(N)o [Yes]: y  \n\n{handed}\nYes.\n\n"
    run += "#### Yes.  \n\n#### /help me  \n\n#### # Question: me  \n####   \n#### # Relevant docs:  \n"
    assert [event.content for event in read(run)][1:] == [
        User("boil"),
        Said(plan),
        Notification("Edit the files? (Y)es/(N)o [Yes]: y", "info"),
        Notification(plan, "context"),
        Said("Yes."),
        User("Yes."),
        SlashCommand("/help", "me"),
        Notification("# Question: me\n\n# Relevant docs:", "context"),
    ]


def test_a_history_in_a_project_is_of_that_project() -> None:
    decoder = aider.reader.decoder("/home/ada/tide/.aider.chat.history.md")
    list(decoder.feed(Record(b"# aider chat started at 2026-01-02 03:04:05", Origin("", 1, 0, 0))))
    assert [facts.project for facts in decoder.sessions.values()] == ["/home/ada/tide"]


def test_tokens_in_each_way_of_writing_them() -> None:
    lines = {
        "Tokens: 742 sent, 3 received.": (742, 0, 0, 3),
        "Tokens: 10k sent, 1.5k cache write, 4 received. Cost: $0.1 message": (8500, 0, 1500, 4),
        "Tokens: 2.0k sent, 9.5k cache hit, 1,004 received.": (2000, 9500, 0, 1004),
        "33700 prompt tokens, 55 completion tokens, $0.169325 cost": (33700, 0, 0, 55),
        f"Tokens: {'9' * 400} sent, 3 received.": (0, 0, 0, 3),
    }
    for line, counts in lines.items():
        (usage,) = (event.content for event in read(f"# aider chat started at now\n> {line}  \n"))
        assert isinstance(usage, TokenUsage)
        assert (usage.input, usage.cache_read, usage.cache_write, usage.output) == counts


def test_edits() -> None:
    block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE"
    found = edits_in(f"**x.py**\n```\n{block}\n```\nand\n```\n{block}\n```\n`y.py`:\n{block}")
    assert [edit.path for edit in found] == ["x.py", "and", "y.py"]
    assert found[0].action == FileEdit("x.py", "a\n", "b\n", replace_all=False)
    assert edits_in("x.py\n<<<<<<< SEARCH\na\n=======\nb") == []
    whole = whole_file("#### `x.py`\n````md\n```\ncode\n```\n````\nmore", "x.py")
    assert whole is not None
    assert whole.action == FileWrite("x.py", "```\ncode\n```\n")
    assert whole_file("x.py\nno fence", "x.py") is None


def test_events_stay_the_same_while_a_history_grows() -> None:
    text = CASE.read_text()
    whole = [(event.key, event.before, event.content) for event in read(text)]
    lines = text.split("\n")
    for end in range(len(lines)):
        part = [(event.key, event.before, event.content) for event in read("\n".join(lines[:end]))]
        assert part[:-1] == whole[: max(0, len(part) - 1)]


def test_what_an_architect_said_is_carried_out_by_another_model() -> None:
    plan = "Give the heron a longer neck, and call it so."
    run = (
        "# aider chat started at 2026-01-02 03:04:05\n\n"
        "> Model: owl-3 with architect edit format, infinite output  \n"
        "> Editor model: wren-1 with editor-diff edit format  \n\n"
        f"#### make it taller  \n\n{plan}\n\n> Tokens: 100 sent, 10 received.  \n\n"
        f"#### {plan}  \n\nDone.\n\n> Tokens: 50 sent, 5 received.  \n\n"
        "#### thanks  \n\nWelcome.\n\n> Tokens: 120 sent, 3 received.  \n"
    )
    used = [event.content for event in read(run) if isinstance(event.content, TokenUsage)]
    assert [(usage.model, usage.input) for usage in used] == [("owl-3", 100), ("wren-1", 50), ("owl-3", 120)]
