"""What secrets look like: one rule a kind, each with the literal that must stand in the text before it is tried.

Rules are for bytes: UTF-8 text, or JSON as it was written. None of the characters of a secret, nor of what tells it
from its surroundings, is one that JSON must escape, with three exceptions that the rules know. Quotation marks may have
backslashes before them; an escape such as `\\n` is no part of the word that follows; and the lines of a private key may
be parted by escapes. So a rule finds the same in a text, in its JSON, and in the JSON of that.

What must not be tried again is an atomic group, `(?>…)`: Python before 3.11.5 matches `(?:…)++` wrongly.
"""

import re
from collections.abc import Callable
from itertools import product
from typing import NamedTuple

from unspool.transforms.commands import COMMANDS
from unspool.transforms.likely import (
    anything,
    has_key,
    has_session,
    is_basic,
    is_key,
    is_named_password,
    is_password,
    is_placeholder,
    is_private_key,
    is_random,
    stands_for,
)
from unspool.transforms.shapes import (
    BETWEEN,
    CELL,
    CHOSEN,
    COOKIES,
    CREDENTIALS,
    DEFAULT,
    END,
    GAP,
    GIVEN,
    HASH,
    JOINED,
    LINE,
    MARGIN,
    MARK,
    PARTED,
    PLAIN,
    QUOTE,
    START,
    VALUE,
    Rule,
)


class Field(NamedTuple):
    """A secret that only its name tells: `NAME=value`, `"name": "value"`, or the value of an object's key."""

    kind: str
    literals: tuple[str, ...]
    name: str
    """From the literal to the name's end."""
    value: str = PARTED
    accept: Callable[[bytes], bool] = is_random

    @property
    def rule(self) -> Rule:
        closed = r"(?(tag)(?=<|\\+u003c))"
        between = BETWEEN if self.accept is is_password else f"{BETWEEN}|{DEFAULT}|{GIVEN}|{CELL}"
        return Rule(self.kind, self.literals, f"(?:{self.name})(?:{between}){self.value}{closed}", self.accept)


def _names(*words: str, last: str = "") -> tuple[str, ...]:
    """Words without their first letter, which may be either, in the ways in which programs write them."""
    if not last:
        return tuple(name for word in words for name in (word[1:], word[1:].upper()))
    small = [word[1:] + join + last for word, join in product(words, ("", "_", "-"))]
    title = [join + last.title() for join in ("", "_", "-")]
    mixed = [first[1:] + rest for word in words for first in (word, word.upper()) for rest in title]
    return (*small, *mixed, *map(str.upper, small))


def _prefixed(kind: str, prefixes: str, rest: str, accept: Callable[[bytes], bool] = anything) -> Rule:
    """A key that begins with one of the prefixes, and goes on with nothing but `rest`."""
    literals = tuple(prefixes.split())
    return Rule(kind, literals, rf"{START}(?<![_-])(?:{'|'.join(map(re.escape, literals))}){rest}{END}", accept)


_PEM = r"[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_WORDS = r"[A-Za-z0-9_-]"
_GITLAB = ("pat", "ptt", "dt", "rt", "cbt", "oas", "ft", "imt", "agent", "soat")
_USER = r"[A-Za-z0-9._~!$&()*+,;=%{}-]"
_SECRET_USER = r"[A-Za-z0-9._~!$&()*+,;=%{}:#^-]"

RULES: tuple[Rule, ...] = (
    Rule("anthropic-key", ("sk-",), rf"{START}sk-ant-{_WORDS}{{20,400}}"),
    Rule("openai-key", ("sk-",), rf"{START}sk-{_WORDS}{{20,400}}", is_key),
    Rule("stripe-key", ("k_live_", "k_test_"), rf"{START}[sr]k_(?:live|test)_[A-Za-z0-9]{{16,}}", back=1),
    Rule("groq-key", ("gsk_",), rf"{START}gsk_[A-Za-z0-9]{{40,}}"),
    Rule("google-key", ("AIza",), rf"{START}AIza{_WORDS}{{35}}{END}"),
    Rule("google-secret", ("GOCSPX-",), rf"{START}GOCSPX-{_WORDS}{{24,100}}"),
    Rule("aws-key", ("AKIA", "ASIA"), rf"{START}A[KS]IA[A-Z0-9]{{16}}{END}"),
    Rule("github-token", tuple(f"gh{letter}_" for letter in "pousr"), rf"{START}gh[pousr]_[A-Za-z0-9]{{30,}}"),
    Rule("github-token", ("github_pat_",), rf"{START}github_pat_[A-Za-z0-9_]{{22,300}}"),
    Rule(
        "gitlab-token",
        tuple(f"gl{kind}-" for kind in _GITLAB),
        rf"{START}gl(?:{'|'.join(_GITLAB)})-[A-Za-z0-9_.-]{{19,300}}[A-Za-z0-9_-]",
    ),
    Rule(
        "slack-token",
        tuple(f"xox{letter}-" for letter in "abcdeprs"),
        rf"{START}xox[abcdeprs]-(?:[A-Za-z0-9-]|%[0-9A-F]{{2}}){{10,400}}",
    ),
    Rule("slack-token", ("xapp-",), rf"{START}xapp-[0-9]-[A-Za-z0-9-]{{20,400}}"),
    Rule("huggingface-token", ("hf_",), rf"{START}hf_[A-Za-z0-9]{{30,}}"),
    Rule("npm-token", ("npm_",), rf"{START}npm_[A-Za-z0-9]{{36,}}"),
    Rule("pypi-token", ("pypi-",), rf"{START}pypi-{_WORDS}{{50,1000}}"),
    Rule("sendgrid-key", ("SG.",), rf"{START}SG\.{_WORDS}{{16,32}}\.{_WORDS}{{16,100}}"),
    Rule("twilio-key", ("SK",), rf"{START}SK[0-9a-f]{{32}}{END}"),
    Rule("azure-secret", ("Q~",), rf"{START}[A-Za-z0-9_~.-]{{3}}[0-9]Q~[A-Za-z0-9_~.-]{{30,60}}[A-Za-z0-9_~-]", back=4),
    _prefixed("xai-key", "xai-", r"[A-Za-z0-9]{60,100}"),
    _prefixed("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,64}"),
    _prefixed("replicate-key", "r8_", r"[A-Za-z0-9]{37}"),
    _prefixed("fireworks-key", "fw_", r"[A-Za-z0-9]{22,24}", is_random),
    _prefixed("cerebras-key", "csk-", r"[a-z0-9]{40,64}"),
    _prefixed("together-key", "tgp_v1_", rf"{_WORDS}{{40,64}}"),
    _prefixed("nvidia-key", "nvapi-", rf"{_WORDS}{{60,80}}"),
    _prefixed("voyage-key", "pa-", rf"{_WORDS}{{43}}", is_random),
    _prefixed("elevenlabs-key", "sk_", r"[0-9a-f]{48}"),
    _prefixed("huggingface-token", "api_org_", r"[A-Za-z0-9]{34}"),
    _prefixed("tavily-key", "tvly-", rf"{_WORDS}{{32,64}}", is_random),
    _prefixed("firecrawl-key", "fc-", r"[0-9a-f]{32}"),
    _prefixed("jina-key", "jina_", rf"{_WORDS}{{50,80}}", is_random),
    _prefixed("e2b-key", "e2b_ sk_e2b_", r"[0-9a-f]{40}"),
    _prefixed("langsmith-key", "lsv2_", r"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    _prefixed("pinecone-key", "pcsk_", r"[A-Za-z0-9]{5,8}_[A-Za-z0-9]{50,80}"),
    _prefixed("wandb-key", "wandb_v1_", rf"{_WORDS}{{40,100}}"),
    _prefixed("posthog-key", "phx_", r"[A-Za-z0-9]{40,60}"),
    _prefixed("aws-key", "ABSK", r"[A-Za-z0-9+/]{100,200}={0,2}"),
    _prefixed("aws-token", "IQoJb3JpZ2lu", r"[A-Za-z0-9+/]{100,4000}={0,2}"),
    Rule("azure-key", ("JQQJ99",), rf"{START}[A-Za-z0-9]{{52}}JQQJ99[A-Za-z0-9]{{26}}", back=52),
    _prefixed("google-token", "ya29.", rf"{_WORDS}{{30,2000}}"),
    _prefixed("google-key", "AQ.Ab8", rf"{_WORDS}{{40,80}}"),
    _prefixed("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    _prefixed("databricks-token", "dapi", r"[0-9a-f]{32}(?:-[0-9])?"),
    _prefixed("vault-token", "hvs.", rf"{_WORDS}{{24,400}}", is_random),
    Rule("terraform-token", (".atlasv1.",), rf"{START}[A-Za-z0-9]{{14}}\.atlasv1\.{_WORDS}{{60,80}}", back=14),
    _prefixed("pulumi-token", "pul-", r"[0-9a-f]{40}"),
    _prefixed("docker-token", "dckr_pat_ dckr_oat_", rf"{_WORDS}{{27,40}}"),
    _prefixed("rubygems-key", "rubygems_", r"[0-9a-f]{48}"),
    _prefixed("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    _prefixed("square-token", "sq0atp- sq0csp-", rf"{_WORDS}{{22,43}}"),
    _prefixed("stripe-key", "whsec_", r"[A-Za-z0-9+/]{32,64}={0,2}"),
    _prefixed("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,64}"),
    _prefixed("notion-token", "ntn_ secret_", r"[A-Za-z0-9]{43,50}"),
    _prefixed("figma-token", "figd_", rf"{_WORDS}{{38,60}}"),
    _prefixed("atlassian-token", "ATATT3xFfG ATCTT3xFfG ATBB", r"[A-Za-z0-9_=-]{28,300}"),
    _prefixed("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    _prefixed("newrelic-key", "NRAK-", r"[A-Z0-9]{27}"),
    _prefixed("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_-]{60,400}"),
    _prefixed("grafana-token", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    _prefixed("grafana-token", "glc_eyJ", r"[A-Za-z0-9+/]{32,400}={0,2}"),
    _prefixed("supabase-key", "sbp_", r"(?:v0_)?[0-9a-f]{40}"),
    _prefixed("supabase-key", "sb_secret_", rf"{_WORDS}{{31}}"),
    _prefixed("vercel-token", "vca_ vci_ vck_ vcp_ vcr_", r"[A-Za-z0-9]{50,60}"),
    _prefixed("netlify-token", "nfp_", r"[A-Za-z0-9]{36}"),
    _prefixed("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.-]{31,63}[A-Za-z0-9_-]"),
    _prefixed("neon-key", "napi_", r"[a-z0-9]{60,70}"),
    _prefixed("runpod-key", "rpa_", r"[A-Za-z0-9]{40,60}"),
    _prefixed("resend-key", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,26}", is_random),
    _prefixed("contentful-token", "CFPAT-", rf"{_WORDS}{{43}}"),
    _prefixed("onepassword-token", "ops_eyJ", rf"{_WORDS}{{200,1200}}"),
    _prefixed("circleci-token", "CCIPAT_", r"[A-Za-z0-9]{22}_[0-9a-f]{40}"),
    _prefixed("buildkite-token", "bkua_", r"[0-9a-f]{40}"),
    _prefixed("prefect-key", "pnu_ pnb_", r"[A-Za-z0-9]{36}"),
    _prefixed("clojars-token", "CLOJARS_", r"[0-9a-f]{60}"),
    _prefixed("shippo-token", "shippo_live_ shippo_test_", r"[0-9a-f]{40}"),
    _prefixed("typeform-token", "tfp_", rf"{_WORDS}{{40,70}}", is_random),
    _prefixed("readme-key", "rdme_", r"[a-z0-9]{70}"),
    _prefixed("deno-token", "ddp_ ddo_", r"[A-Za-z0-9]{36}"),
    _prefixed("jfrog-token", "AKCp", r"[A-Za-z0-9]{69}"),
    _prefixed("mapbox-token", "sk.eyJ", rf"{_WORDS}{{40,120}}\.{_WORDS}{{20,30}}"),
    _prefixed("fly-token", "fm1r_ fm1a_ fm2_", r"[A-Za-z0-9+/]{80,2000}={0,3}"),
    _prefixed("heroku-key", "HRKU-AA", rf"{_WORDS}{{50,64}}"),
    _prefixed("tailscale-key", "tskey-", r"[a-z]{3,10}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{16,64}"),
    _prefixed("sourcegraph-token", "sgp_", r"(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    _prefixed("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}"),
    _prefixed("mailgun-key", "key-", r"[0-9a-f]{32}"),
    Rule("mailchimp-key", ("-us",), rf"{START}[0-9a-f]{{32}}-us[0-9]{{1,2}}{END}", back=32),
    _prefixed("private-key", "LS0tLS1CRUdJTi", r"[A-Za-z0-9+/]{86,20000}={0,2}", is_private_key),
    _prefixed(
        "private-key",
        "LS0tLS1CRUdJTi",  # in lines, as base64 writes it
        rf"[A-Za-z0-9+/]{{46,62}}(?:{LINE}{{1,20}}[A-Za-z0-9+/]{{60,76}})+(?:{LINE}{{1,20}}[A-Za-z0-9+/]{{1,75}}={{0,2}})?",
        is_private_key,
    ),
    Rule(
        "private-key",
        ("Private-Lines: ",),  # PuTTY's
        rf"Private-Lines: [0-9]{{1,3}}{LINE}{{1,8}}(?P<secret>[A-Za-z0-9+/]{{40,64}}={{0,2}}{END}"
        rf"(?:{LINE}{{1,8}}[A-Za-z0-9+/]{{1,64}}={{0,2}}{END})*)",
    ),
    Rule("password-hash", ("$2a$", "$2b$", "$2y$"), rf"\$2[aby]\$[0-9]{{2}}\${HASH}{{53}}"),
    Rule("password-hash", ("$apr1$", "$1$"), rf"\$(?:apr)?1\${HASH}{{1,8}}\${HASH}{{22}}"),
    Rule("password-hash", ("$6$",), rf"\$6\$(?:rounds=[0-9]{{1,9}}\$)?{HASH}{{1,16}}\${HASH}{{86}}"),
    Rule("password-hash", ("$5$",), rf"\$5\$(?:rounds=[0-9]{{1,9}}\$)?{HASH}{{1,16}}\${HASH}{{43}}"),
    Rule("password-hash", ("$y$",), rf"\$y\${HASH}{{1,10}}\${HASH}{{1,86}}\${HASH}{{43}}"),
    Rule(
        "password-hash",
        ("$argon2",),
        r"\$argon2(?:id?|d)\$v=[0-9]{1,3}\$m=[0-9,tp=]{1,40}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,180}",
    ),
    Rule(
        "jwt",
        ("eyJ",),
        rf"{START}eyJ{_WORDS}{{8,1000}}+\.(?:eyJ{_WORDS}{{8,16000}}+\.{_WORDS}*"
        rf"|{_WORDS}{{0,2000}}+\.{_WORDS}{{12,100}}+\.{_WORDS}{{8,16000}}+\.{_WORDS}{{16,100}}+)",
    ),
    Rule(
        "private-key",
        ("-----BEGIN ",),
        rf"-----BEGIN {_PEM}(?:(?>(?:[A-Za-z0-9+/=:, \r\n\t\\<>|→│#*._;()@]|-(?!----(?!-END))|{JOINED}){{32,20000}})"
        rf"-----END {_PEM}"
        rf"|(?>(?:(?>(?:{MARGIN}|{JOINED})*)[A-Za-z0-9+/=]{{16,}}+)+))",
        has_key,
    ),
)
"""Kinds that a secret tells by itself. They come first: the same key has the same placeholder, however it is named."""

FIELDS: tuple[Field, ...] = (
    Field(
        "azure-key", ("ccountKey", "ccessKey"), r"cc(?:ount|ess)Key", r"(?P<secret>[A-Za-z0-9+/]{43,}={1,2})", anything
    ),
    Field(
        "aws-secret",
        _names("secret"),
        r"(?i:ecret[ _-]?access[ _-]?key)(?: \[[A-Za-z0-9*]{1,24}\])?",
        r"(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
        anything,
    ),
    Field("password", ("assw", "ASSW"), r"(?i:assw(?:or)?d)", CHOSEN, is_password),
    Field("password", ("_pass", "_PASS", "SSHPASS", "CLI_AUTH"), r"(?i:_pass)|SSHPASS|CLI_AUTH", CHOSEN, is_password),
    Field("password", ("pwd", "Pwd", "PWD"), r"(?i:pwd)", CHOSEN, is_password),
    Field("password", ("assphrase", "ASSPHRASE"), r"(?i:assphrase)", CHOSEN, is_password),
    Field("password", ("pass",), "(?<![A-Za-z0-9_.-])pass", rf"(?:(?<=[\"'`])|\A){VALUE}", is_password),
    Field("token", _names("token"), r"(?i:oken)"),
    Field(
        "secret",
        _names("secret"),
        r"(?<!:[0-9]{12}:s)(?i:ecret(?:[_-]?key(?:[_-]base)?|[_-]?string)?)",  # else the name of one, in AWS' own form
    ),
    Field("api-key", _names("api", "access", "account", last="key"), r"(?i:(?:pi|ccess|ccount)[_-]?key)"),
    Field(
        "secret",
        _names("encryption", "signing", "master", "private", "auth", "admin", "openai", "subscription", last="key"),
        r"(?i:(?:ncryption|igning|aster|rivate|uth|dmin|penai|ubscription)[_-]?key)",
        accept=lambda value: len(value) >= 32 and is_random(value),
    ),
    Field("cookie", _names("cookie"), r"(?i:ookie)", rf"(?P<secret>{COOKIES})", has_session),
    Field("authorization", ("auth",), "auth", r"(?P<secret>[A-Za-z0-9+/]{8,}+={0,2})", is_basic),
    Field(
        "authorization",
        _names("authorization"),
        r"(?i:uthorization)",
        rf"(?:[A-Za-z][A-Za-z0-9-]{{1,30}} +)?{CREDENTIALS}",  # a scheme, which may be anybody's own: SSWS, GenieKey
        lambda value: is_random(value) or is_basic(value),
    ),
)

WEAK: tuple[Rule, ...] = (
    Rule(
        "url-password",
        ("://",),  # a token that is the user, with no password or a fixed one
        rf"(?:(?<=http)|(?<=https))://(?P<secret>{_WORDS}{{20,200}}+)(?::(?:x-oauth-basic)?)?@",
        is_random,
    ),
    Rule(
        "url-password",
        ("%3A%2F%2F",),
        r"%3A%2F%2F[A-Za-z0-9._~-]{0,80}%3A(?P<secret>(?:[A-Za-z0-9._~!$*+-]|%(?!40|2F)[0-9A-F]{2}){1,200})%40",
        lambda value: not stands_for(value),
    ),
    Rule("url-signature", ("-Signature=",), r"-Signature=(?P<secret>[0-9a-f]{64,600})"),
    Rule(
        "url-password",
        ("://",),
        rf"://{_USER}*+:(?P<secret>{_SECRET_USER}++(?>(?:@{_SECRET_USER}++(?=@))*))@",
        lambda value: not stands_for(value),
    ),
    Rule("authorization", ("Bearer ",), rf"Bearer {{1,2}}{CREDENTIALS}", is_random),
    Rule("authorization", ("Basic ",), r"Basic {1,2}(?P<secret>[A-Za-z0-9+/]{8,}+={0,2})", is_basic),
    Rule(
        "webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/[a-z]+/(?P<secret>T[A-Z0-9]+/[A-Z0-9]+/[A-Za-z0-9]{16,})"
    ),
    Rule("webhook", ("/api/webhooks/",), rf"/api/webhooks/[0-9]{{17,20}}/(?P<secret>{_WORDS}{{60,100}})"),
    Rule("webhook", ("/IncomingWebhook/",), r"/IncomingWebhook/(?P<secret>[0-9a-f]{32})"),
    Rule("telegram-token", (":AA",), rf"(?<=[0-9]{{8}}):(?P<secret>AA{_WORDS}{{33}}){END}", is_random),
    Rule("azure-key", ("sig=",), r"sig=(?P<secret>[A-Za-z0-9%+/]{43,100}(?:%3D|=))"),
    Rule(
        "password",
        ("login(", "auth=(", "BasicAuth("),
        rf"(?:login|auth=|BasicAuth)\({QUOTE}[A-Za-z0-9._@%+-]{{1,100}}{QUOTE}, ?{QUOTE}{VALUE}(?={QUOTE} ?\))",
        is_password,
    ),
    Rule("password", ("assword is ",), rf"assword is (?:{QUOTE})?{VALUE}", is_named_password),
    Rule(
        "password",
        ("machine", "default login "),
        rf"(?:machine{GAP}[^\s\\]{{1,200}}|default){GAP}login{GAP}[^\s\\]{{1,200}}{GAP}"
        rf"(?:account{GAP}[^\s\\]{{1,200}}{GAP})?password{GAP}{VALUE}",
        is_password,
    ),
    Rule("password", ("password ",), rf"password {VALUE}", is_random),
    Rule("password", ("ASSWORD",), rf"ASSWORD{DEFAULT}{VALUE}", is_password),
    Rule(
        "password",
        ("ASSWORD '", "assword '", "DENTIFIED BY '"),
        rf"(?:(?i:assword)|DENTIFIED BY) '{VALUE}(?=')",
        is_password,
    ),
    Rule(
        "password",
        (":5432:", ":*:*:"),
        rf"(?::5432:{PLAIN}|(?<=\*)(?<!:\*):\*:\*):{PLAIN}:{VALUE}",
        is_password,
    ),
    Rule(
        "api-key",
        ("PI key", "PI Key", "pi key", "oken is"),
        rf"(?:PI [Kk]ey|pi key|oken is)(?: is)?(?:{MARK}|{CELL}| )(?:{QUOTE})?{VALUE}",
        is_random,
    ),
    Rule(
        "aws-secret",
        ("[REDACTED:aws-key:",),  # beside its key
        r"\[REDACTED:aws-key:[0-9a-f]{4}\](?:[,:;| ]|\t|\\+t){1,3}(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
    ),
    Rule("secret", ("KEY=base64",), r"KEY=base64:(?P<secret>[A-Za-z0-9+/]{43}=)"),
    Rule(
        "secret",
        ("ECRET_KEY",),
        rf"ECRET_KEY{MARK}{QUOTE}(?P<secret>(?>(?:[a-z0-9!@#$%^&*(_=+)-]|\\+u0026){{40,80}}))(?={QUOTE})",
        lambda value: not is_placeholder(value),
    ),
    *COMMANDS,
    *(field.rule for field in FIELDS),
)
"""Kinds that only their surroundings tell."""
