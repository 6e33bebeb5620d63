"""What every provider asks of the pictures, papers and files in the history that it is sent: see `wires/history.py`."""

import pytest

from contexts import LOOK, POINT, PROVIDERS, body, called, context, flat, paper, prepared, result, says
from unspool.errors import UnsupportedContent
from unspool.wires.history import LARGEST


@pytest.mark.parametrize(
    ("provider", "kind"),
    [
        ("anthropic", "image/svg+xml"),
        ("anthropic", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("openai", "video/mp4"),
        ("openai-responses", "audio/wav"),
        ("gemini", "application/zip"),
        ("cohere", "application/pdf"),
        ("cerebras", "image/png"),
    ],
)
def test_what_a_provider_does_not_take_is_refused_before_anything_is_sent(provider: str, kind: str) -> None:
    given = context(says("user", "Hi"), says("user", paper(kind), turn="03h8tnpj5i02k1a1ctrr03nei"))
    if kind == "image/svg+xml":
        assert "<document" not in flat(body(provider, context(says("user", paper(kind, "PHN2Zy8+")))))
        return  # it is text
    with pytest.raises(UnsupportedContent) as caught:
        body(provider, given)
    assert caught.value.what == kind
    assert caught.value.where == "turn 03h8tnpj5i02k1a1ctrr03nei"
    assert provider in caught.value.provider.lower().replace(" ", "-")
    sent, warnings = prepared(provider, given, lenient=True)
    assert kind in flat(sent)
    assert POINT not in flat(sent)
    assert len(warnings) == 1
    assert kind in warnings[0]


def test_more_than_100_mb_is_refused_even_leniently() -> None:
    given = context(says("user", paper("application/pdf", "A" * (LARGEST * 4 // 3 + 8))))
    with pytest.raises(UnsupportedContent, match="over 100 MB"):
        body("anthropic", given, lenient=True)


def test_documents_are_sent_with_their_names() -> None:
    given = context(says("user", paper("text/csv", "YSxi", title="a.csv"), paper("application/pdf", title="b.pdf")))
    for provider in ("anthropic", "openai", "openai-responses", "gemini"):
        sent = flat(body(provider, given))
        assert "a.csv" in sent
        assert "a,b" in sent
        assert "b.pdf" in sent


@pytest.mark.parametrize("provider", ["anthropic", "openai", "openai-responses", "cohere"])
def test_a_picture_that_a_model_drew_is_shown_by_the_user(provider: str) -> None:
    drew = says("assistant", "See:", paper("image/png"), called("a"), api="gemini")
    given = context(says("user", "Draw"), drew, says("user", result("a", "ok")), says("user", "Bigger"))
    sent = body(provider, given)
    said = [(turn.get("role"), flat(turn)) for turn in sent.get("messages") or sent["input"]]
    shown = [role for role, text in said if POINT in text]
    assert shown == ["user"]
    order = [number for number, (_, text) in enumerate(said) if "[image 1 of this message follows]" in text]
    assert order < [number for number, (_, text) in enumerate(said) if POINT in text]
    assert flat(sent).index('"ok"') < flat(sent).index(POINT) < flat(sent).index("Bigger")
    last = flat(body(provider, context(says("user", "Draw"), says("assistant", paper("image/png")))))
    assert last.count(POINT) == 1
    assert POINT in flat(body("gemini", given)["contents"][1])


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("written", ["image/jpg", "IMAGE/JPEG", "image/jpeg; name=cat.jpg"])
def test_a_media_type_may_be_spelled_otherwise(provider: str, written: str) -> None:
    asked = context(says("user", "Hi", paper(written)))
    assert body(provider, asked) == body(provider, context(says("user", "Hi", paper("image/jpeg"))))
    gave = says("assistant", called("a")), says("user", result("a", paper(written)))
    assert "image/jpeg" in flat(body(provider, context(says("user", "Hi"), *gave)))
    text = context(says("user", paper("Text/CSV; charset=utf-8", "YSxi")))
    assert "a,b" in flat(body(provider, text))


def test_pictures_in_results_follow_behind_where_results_hold_none() -> None:
    given = context(
        says("user", "Hi"),
        says("assistant", called("a"), called("b")),
        says("user", result("a", "see", paper("image/png")), result("b", "ok")),
    )
    messages = body("openai", given, [LOOK])["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "user"]
    assert messages[-1]["content"][-1]["type"] == "image_url"
    inside = body("anthropic", given, [LOOK])["messages"][2]["content"][0]["content"]
    assert [part["type"] for part in inside] == ["text", "image"]
