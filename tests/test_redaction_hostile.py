"""No text makes redaction slow, and no key is found inside of something else."""

import json
import random
import time
from base64 import b64encode, urlsafe_b64encode
from typing import Any

import pytest

from unspool.transforms.redact import Redactor
from unspool.transforms.redaction.kubernetes import LITERALS
from unspool.transforms.secrets import RULES, WEAK

KEY = b"a key"
SIZE = 40_000
TAILS = ("", "a1B2c3D4", '="a1B2', " a", "\\n", "%3D", "\n  ", "aaaa bbbb ")


@pytest.mark.parametrize("rules", [(*RULES, *WEAK)[start::8] for start in range(8)])
def test_no_rule_costs_more_than_a_multiple_of_the_text(rules: tuple[Any, ...]) -> None:
    redactor = Redactor(KEY)
    chance = random.Random(len(rules))
    for rule in rules:
        literal = chance.choice(rule.literals) if rule.literals else rule.kind
        tail = chance.choice(TAILS)
        for text in ((literal + tail) * (SIZE // len(literal + tail)), literal + (tail or "a") * SIZE):
            started = time.process_time()
            redactor.text(text[:SIZE])
            assert time.process_time() - started < 5, (rule, tail)


@pytest.mark.parametrize("piece", [*LITERALS, "kind: Secret\ndata:\n  a: bbbb\n", "-----END RSA PRIVATE KEY-----\n"])
def test_no_file_of_many_parts_costs_more(piece: str) -> None:
    started = time.process_time()
    Redactor(KEY).text(piece * (100_000 // len(piece)))
    assert time.process_time() - started < 5


def test_no_key_is_found_inside_of_base64() -> None:
    chance = random.Random(5)
    redactor = Redactor(KEY)
    prefixes = ("_sk-", "-hf_", "_gsk_", "-npm_", "_ghp_", "/EAAB", "+SK", "_AIza", "-sk-ant-")
    for prefix in prefixes:
        encode = b64encode if prefix[0] in "/+" else urlsafe_b64encode
        block = encode(chance.randbytes(3000)).decode().rstrip("=")
        text = json.dumps({"encrypted_content": block[:1200] + prefix + block[1200:]})
        assert redactor.text(text) == text


def test_hashes_images_and_ids_stay() -> None:
    chance = random.Random(6)
    redactor = Redactor(KEY)
    image = b64encode(b"\x89PNG\r\n\x1a\n" + chance.randbytes(20_000)).decode()
    for text in (
        f'{{"type": "image", "data": "{image}"}}',
        f'"integrity": "sha512-{b64encode(chance.randbytes(64)).decode()}"',
        f"commit {chance.randbytes(20).hex()}\nindex {chance.randbytes(4).hex()}..{chance.randbytes(4).hex()} 100644",
        f"sha256:{chance.randbytes(32).hex()}  file.tar.gz\n",
        '"session_id": "1c4f2a7e-9b3d-4e5f-8a6b-7c8d9e0f1a2b", "uuid": "550e8400-e29b-41d4-a716-446655440000"',
        '"max_tokens": 4096, "token_type": "bearer", "password_hash": null, "secretName": "my-secret"',
        "token = get_token(); api_key: str | None = None; key = process.env.API_KEY; password: string;",
        "API_KEY=${API_KEY} TOKEN=<your-token> SECRET=xxxxxxxxxxxxxxxx PASSWORD=changeme PASSWORD=$1",
        "next_page_token=AMEw9yO5jnsGnZJLHSKDFHJJu continuation_token: dG9rX2hvcF8x9Zq2Lm4",
        "function getClientSecretFromEnvironment(accessTokenProvider, refreshTokenHandler) { return null }",
    ):
        assert redactor.text(text) == text
