"""Secrets drawn by `bench/secrets_drawn.py`: kinds, places and carriers, none of them real."""

import json
import random
from collections import Counter
from itertools import islice

import pytest

from secret_forms import FORMS, draw
from secret_samples import samples
from secret_traces import redacted_by_squash
from secret_words import value
from unspool.transforms.redact import Redactor

KEY = b"a key"


@pytest.mark.parametrize(
    ("kind", "form"), [(kind, form) for forms in FORMS.values() for kind, form in forms.items()], ids=str
)
def test_each_kind_disappears(kind: str, form: str) -> None:
    chance = random.Random(kind)
    redactor = Redactor(KEY)
    for _ in range(5):
        secret = draw(form, chance)
        text = redactor.text(f"here it is:\n{secret}\nthanks")
        assert secret[-12:] not in text, text


def test_of_drawn_secrets_at_least_97_percent_disappear_and_90_of_each_group() -> None:
    redactor = Redactor(KEY)
    drawn, removed = Counter[str](), Counter[str]()
    for sample in islice(samples(seed=2026), 4000):
        for label in ("all", sample.group, sample.carrier):
            drawn[label] += 1
            removed[label] += not sample.leaks(redactor.text(sample.text))
    assert removed["all"] >= 0.97 * drawn["all"]
    assert all(removed[label] >= 0.9 * drawn[label] for label in drawn), (removed, drawn)


def test_named_values_need_no_digits() -> None:
    chance = random.Random(1)
    redactor = Redactor(KEY)
    values = [value(chance) for _ in range(1000)]
    kept = [each for each in values if each in redactor.text(f"MYAPP_API_KEY={each}\n")]
    assert len(kept) <= 5, kept


def test_json_stays_json_and_what_a_text_loses_its_json_loses_too() -> None:
    redactor = Redactor(KEY)
    for sample in islice(samples(seed=11), 4000):
        for is_ascii in (True, False):
            raw = redactor.raw(json.dumps({"content": sample.text}, ensure_ascii=is_ascii).encode())
            written = json.loads(raw)["content"]
            if not sample.leaks(redactor.text(sample.text)):
                assert not sample.leaks(written), written


def test_a_list_loses_what_each_of_its_texts_loses() -> None:
    redactor = Redactor(KEY)
    for sample in islice(samples(seed=12), 2000):
        alone = redactor.values(sample.text)
        assert redactor.values(["ordinary words", sample.text, "other words"])[1] == alone, sample.place


def test_sessions_lose_them_in_each_carrier() -> None:
    drawn = list(islice(samples(seed=12), 120))
    texts = redacted_by_squash(drawn)
    left = [sample for sample, text in zip(drawn, texts, strict=True) if sample.leaks(text)]
    assert len(left) <= 6, left
