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

from unspool.transforms.likely import (
    anything,
    has_key,
    has_session,
    is_basic,
    is_key,
    is_password,
    is_placeholder,
    is_private_key,
    is_random,
    stands_for,
)

_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9A-F]{2})|(?<=[\[;0-9][0-9]m))"
"""Before a word: no letter or digit, unless it is the end of an escape, or of what colours a terminal."""
_END = r"(?![A-Za-z0-9_-])"
_LINE = r"(?:[ \r\n\t]|\\+[nrt])"
_GAP = rf"{_LINE}{{1,40}}"
_MARGIN = r"(?:[ \r\n\t>|]|→|│|\\+(?:[nrt]|u2192|u2502)|[0-9]{1,6}(?=→|\t|\\+(?:t|u2192)|:| {0,2}(?:\||│|\\+u2502)))"
"""Between the lines of a key that a tool has numbered, or quoted."""

_QUOTE = r"(?:\\*[\"'`]|&quot;|&#39;)"
_OPEN = rf"[bfru@]?{_QUOTE}{{1,3}}"
_JOINED = rf"{_QUOTE}(?:{_LINE}|[A-Za-z0-9,.+;>#_/()]){{0,60}}{_QUOTE}"
"""Between the lines of a key that code writes one by one: a text ends, and the next begins. In JSON so do elements of a
list, never a key and its value: what is left of it stays JSON."""
_SPACES = r"\*{0,2}(?: |\t|\\+t){0,40}"
_MARK = rf"{_SPACES}(?:=>|:=|[:=](?!=)|%3D){_SPACES}"
_PAIR = rf"(?:{_QUOTE})?,?{_LINE}{{1,40}}(?:{_QUOTE})?value(?:{_QUOTE})?{_MARK}(?:{_QUOTE})?"
_ELSE = rf"(?:: ?&?[A-Za-z|\[\]]{{1,20}} =| (?:\|\||\?\?)) {_OPEN}"
_BETWEEN = rf"{_QUOTE}\]?{_MARK}{_OPEN}|{_ELSE}|\]?{_MARK}(?:{_OPEN})?|(?P<tag>>)|{_PAIR}"
"""Between a name and its value. A value whose name is in quotation marks has them too, or it is no text but code.

Or they are the tag and the text of XML, or both are values: `name: DB_PASSWORD`, and `value: …` beside it. The name may
have a type, or the value be what is taken where there is none: `key: str = "…"`, `process.env.KEY || "…"`.
"""
_VALUE = r"(?P<secret>(?>[A-Za-z0-9+/_.~!@#%^*?-][A-Za-z0-9+/_.~!@#%^*?$=-]{6,4000}[A-Za-z0-9+/_~!@#%^*$=-]))(?![(\[{])"
_COOKIE = r"[A-Za-z0-9_.%-]{1,80}=[A-Za-z0-9+/_.~!@#%^*?$=:|-]{0,4000}+"
_COOKIES = rf"{_COOKIE}(?:; ?{_COOKIE}){{0,40}}+"
_SAME = r"[^\0\n\r\\|;]{0,300}?"
"""As little as may be, of one command."""
_SPACED = rf" {{1,2}}(?:{_QUOTE})?"
_SET = r"set --?[A-Za-z]{1,8} [A-Za-z0-9_]*"
_VARIABLE = r"(?:OKEN|ECRET(?:_KEY)?|PI_KEY|ESS_KEY)"
_DEFAULT = rf"{_QUOTE}, {{0,40}}{_QUOTE}(?=[^\"'`\\\s]{{8,4000}}+{_QUOTE} {{0,2}}\))"
"""What is taken where a variable is not set, or what it is set to: `getenv("TOKEN", "…")`, `define('TOKEN', '…')`."""
_GIVEN = rf"\({_QUOTE}"
_PLAIN = r"[A-Za-z0-9_.*-]{1,80}"
_CREDENTIALS = r"(?P<secret>[A-Za-z0-9+/=._~-]{7,8000}[A-Za-z0-9+/=_~-])"


class Rule(NamedTuple):
    kind: str
    literals: tuple[str, ...]
    """One of these stands at the beginning of every match."""
    pattern: str
    """The secret, or its group `secret`."""
    accept: Callable[[bytes], bool] = anything
    back: int = 0
    """How many characters of the match stand before the literal."""


class Field(NamedTuple):
    """A secret that only its name tells: `NAME=value`, `"name": "value"`, or the value of an object's key."""

    kind: str
    literals: tuple[str, ...]
    name: str
    """From the literal to the name's end."""
    value: str = _VALUE
    accept: Callable[[bytes], bool] = is_random

    @property
    def rule(self) -> Rule:
        closed = r"(?(tag)(?=<|\\+u003c))"
        between = _BETWEEN if self.accept is is_password else f"{_BETWEEN}|{_DEFAULT}|{_GIVEN}"
        return Rule(self.kind, self.literals, f"(?:{self.name})(?:{between}){self.value}{closed}", self.accept)


def _options(*words: str) -> tuple[str, ...]:
    """What stands before the value of a command's option, such as `--api-key `."""
    return tuple(f"-{word} " for word in words)


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
    return Rule(kind, literals, rf"{_START}(?<![_-])(?:{'|'.join(map(re.escape, literals))}){rest}{_END}", accept)


_PEM = r"[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_WORDS = r"[A-Za-z0-9_-]"
_GITLAB = ("pat", "ptt", "dt", "rt", "cbt", "oas", "ft", "imt", "agent", "soat")
_USER = r"[A-Za-z0-9._~!$&()*+,;=%{}-]"
_SECRET_USER = r"[A-Za-z0-9._~!$&()*+,;=%{}:#^-]"

RULES: tuple[Rule, ...] = (
    Rule("anthropic-key", ("sk-",), rf"{_START}sk-ant-{_WORDS}{{20,400}}"),
    Rule("openai-key", ("sk-",), rf"{_START}sk-{_WORDS}{{20,400}}", is_key),
    Rule("stripe-key", ("k_live_", "k_test_"), rf"{_START}[sr]k_(?:live|test)_[A-Za-z0-9]{{16,}}", back=1),
    Rule("groq-key", ("gsk_",), rf"{_START}gsk_[A-Za-z0-9]{{40,}}"),
    Rule("google-key", ("AIza",), rf"{_START}AIza{_WORDS}{{35}}{_END}"),
    Rule("google-secret", ("GOCSPX-",), rf"{_START}GOCSPX-{_WORDS}{{24,100}}"),
    Rule("aws-key", ("AKIA", "ASIA"), rf"{_START}A[KS]IA[A-Z0-9]{{16}}{_END}"),
    Rule("github-token", tuple(f"gh{letter}_" for letter in "pousr"), rf"{_START}gh[pousr]_[A-Za-z0-9]{{30,}}"),
    Rule("github-token", ("github_pat_",), rf"{_START}github_pat_[A-Za-z0-9_]{{22,300}}"),
    Rule(
        "gitlab-token",
        tuple(f"gl{kind}-" for kind in _GITLAB),
        rf"{_START}gl(?:{'|'.join(_GITLAB)})-[A-Za-z0-9_.-]{{19,300}}[A-Za-z0-9_-]",
    ),
    Rule(
        "slack-token",
        tuple(f"xox{letter}-" for letter in "abcdeprs"),
        rf"{_START}xox[abcdeprs]-(?:[A-Za-z0-9-]|%[0-9A-F]{{2}}){{10,400}}",
    ),
    Rule("slack-token", ("xapp-",), rf"{_START}xapp-[0-9]-[A-Za-z0-9-]{{20,400}}"),
    Rule("huggingface-token", ("hf_",), rf"{_START}hf_[A-Za-z0-9]{{30,}}"),
    Rule("npm-token", ("npm_",), rf"{_START}npm_[A-Za-z0-9]{{36,}}"),
    Rule("pypi-token", ("pypi-",), rf"{_START}pypi-{_WORDS}{{50,1000}}"),
    Rule("sendgrid-key", ("SG.",), rf"{_START}SG\.{_WORDS}{{16,32}}\.{_WORDS}{{16,100}}"),
    Rule("twilio-key", ("SK",), rf"{_START}SK[0-9a-f]{{32}}{_END}"),
    Rule(
        "azure-secret", ("Q~",), rf"{_START}[A-Za-z0-9_~.-]{{3}}[0-9]Q~[A-Za-z0-9_~.-]{{30,60}}[A-Za-z0-9_~-]", back=4
    ),
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
    Rule("azure-key", ("JQQJ99",), rf"{_START}[A-Za-z0-9]{{52}}JQQJ99[A-Za-z0-9]{{26}}", back=52),
    _prefixed("google-token", "ya29.", rf"{_WORDS}{{30,2000}}"),
    _prefixed("google-key", "AQ.Ab8", rf"{_WORDS}{{40,80}}"),
    _prefixed("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    _prefixed("databricks-token", "dapi", r"[0-9a-f]{32}(?:-[0-9])?"),
    _prefixed("vault-token", "hvs.", rf"{_WORDS}{{24,400}}", is_random),
    Rule("terraform-token", (".atlasv1.",), rf"{_START}[A-Za-z0-9]{{14}}\.atlasv1\.{_WORDS}{{60,80}}", back=14),
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
    _prefixed("fly-token", "fm1r_ fm1a_ fm2_", r"[A-Za-z0-9+/]{80,2000}={0,3}"),
    _prefixed("heroku-key", "HRKU-AA", rf"{_WORDS}{{50,64}}"),
    _prefixed("tailscale-key", "tskey-", r"[a-z]{3,10}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{16,64}"),
    _prefixed("sourcegraph-token", "sgp_", r"(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    _prefixed("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}"),
    _prefixed("mailgun-key", "key-", r"[0-9a-f]{32}"),
    Rule("mailchimp-key", ("-us",), rf"{_START}[0-9a-f]{{32}}-us[0-9]{{1,2}}{_END}", back=32),
    _prefixed("private-key", "LS0tLS1CRUdJTi", r"[A-Za-z0-9+/]{86,20000}={0,2}", is_private_key),
    Rule(
        "jwt",
        ("eyJ",),
        rf"{_START}eyJ{_WORDS}{{8,1000}}+\.(?:eyJ{_WORDS}{{8,16000}}+\.{_WORDS}*"
        rf"|{_WORDS}{{0,2000}}+\.{_WORDS}{{12,100}}+\.{_WORDS}{{8,16000}}+\.{_WORDS}{{16,100}}+)",
    ),
    Rule(
        "private-key",
        ("-----BEGIN ",),
        rf"-----BEGIN {_PEM}(?:(?>(?:[A-Za-z0-9+/=:, \r\n\t\\<>|→│#*._;()@]|-(?!----(?!-END))|{_JOINED}){{32,20000}})"
        rf"-----END {_PEM}"
        rf"|(?>(?:(?>(?:{_MARGIN}|{_JOINED})*)[A-Za-z0-9+/=]{{16,}}+)+))",
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
        r"(?i:ecret[_-]?access[_-]?key)",
        r"(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
        anything,
    ),
    Field("password", ("assw", "ASSW"), r"(?i:assw(?:or)?d)", accept=is_password),
    Field("password", ("_pass", "_PASS"), r"(?i:_pass)", accept=is_password),
    Field("password", ("pwd", "Pwd", "PWD"), r"(?i:pwd)", accept=is_password),
    Field("password", ("assphrase", "ASSPHRASE"), r"(?i:assphrase)", accept=is_password),
    Field("token", _names("token"), r"(?i:oken)"),
    Field("secret", _names("secret"), r"(?i:ecret(?:[_-]?key(?:[_-]base)?|[_-]?string)?)"),
    Field("api-key", _names("api", "access", "account", last="key"), r"(?i:(?:pi|ccess|ccount)[_-]?key)"),
    Field(
        "secret",
        _names("encryption", "signing", "master", "private", "auth", "admin", last="key"),
        r"(?i:(?:ncryption|igning|aster|rivate|uth|dmin)[_-]?key)",
        accept=lambda value: len(value) >= 32 and is_random(value),
    ),
    Field("cookie", _names("cookie"), r"(?i:ookie)", rf"(?P<secret>{_COOKIES})", has_session),
    Field("authorization", ("auth",), "auth", r"(?P<secret>[A-Za-z0-9+/]{8,}+={0,2})", is_basic),
    Field(
        "authorization",
        _names("authorization"),
        r"(?i:uthorization)",
        rf"(?:(?i:bearer|basic|token|digest|apikey) +)?{_CREDENTIALS}",
        lambda value: is_random(value) or is_basic(value),
    ),
)

WEAK: tuple[Rule, ...] = (
    Rule(
        "url-password",
        ("://",),
        rf"://{_USER}*+:(?P<secret>{_SECRET_USER}++(?>(?:@{_SECRET_USER}++(?=@))*))@",
        lambda value: not stands_for(value),
    ),
    Rule("url-password", ("://",), rf"(?:(?<=http)|(?<=https))://(?P<secret>{_WORDS}{{20,200}}+)@", is_random),
    Rule("authorization", ("Bearer ",), rf"Bearer {{1,2}}{_CREDENTIALS}", is_random),
    Rule("authorization", ("Basic ",), r"Basic {1,2}(?P<secret>[A-Za-z0-9+/]{8,}+={0,2})", is_basic),
    Rule(
        "webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/[a-z]+/(?P<secret>T[A-Z0-9]+/[A-Z0-9]+/[A-Za-z0-9]{16,})"
    ),
    Rule("webhook", ("/api/webhooks/",), rf"/api/webhooks/[0-9]{{17,20}}/(?P<secret>{_WORDS}{{60,100}})"),
    Rule("telegram-token", (":AA",), rf"(?<=[0-9]{{8}}):(?P<secret>AA{_WORDS}{{33}}){_END}", is_random),
    Rule("azure-key", ("sig=",), r"sig=(?P<secret>[A-Za-z0-9%+/]{43,100}(?:%3D|=))"),
    Rule("token", _options("token", "key", "secret"), rf"-(?:token|key|secret){_SPACED}{_VALUE}", is_random),
    Rule("password", _options("password", "passwd", "passphrase"), rf"-pass[a-z]+{_SPACED}{_VALUE}", is_password),
    Rule("password", ("sshpass -p",), rf"sshpass -p{_SPACED}?{_VALUE}", is_password),
    Rule("password", ("mysql",), rf"mysql[a-z]{{0,6}} (?:{_SAME} )?-p(?:{_QUOTE})?{_VALUE}", is_password),
    Rule("password", ("docker login",), rf"docker login (?:{_SAME} )?-p {_VALUE}", is_password),
    Rule("password", ("redis-cli",), rf"redis-cli (?:{_SAME} )?-a {_VALUE}", is_password),
    Rule(
        "password", ("-u ", "-user ", "-user="), rf"-u(?:ser)?(?:{_SPACED}|=)[A-Za-z0-9._@%+-]+:{_VALUE}", is_password
    ),
    Rule(
        "password",
        ("machine",),
        rf"machine{_GAP}[^\s\\]{{1,200}}{_GAP}login{_GAP}[^\s\\]{{1,200}}{_GAP}password{_GAP}{_VALUE}",
        is_password,
    ),
    Rule("password", ("password ",), rf"password {_VALUE}", is_random),
    Rule("password", ("set -",), rf"{_SET}(?i:passw(?:or)?d|_pass|pwd){_SPACED}{_VALUE}", is_password),
    Rule("secret", ("set -",), rf"{_SET}(?i:token|key|secret){_SPACED}{_VALUE}", is_random),
    Rule("secret", ("OKEN", "ECRET", "PI_KEY", "ESS_KEY"), rf"{_VARIABLE}{_SPACED}{_VALUE}", is_random),
    Rule("password", ("ASSWORD",), rf"ASSWORD{_DEFAULT}{_VALUE}", is_password),
    Rule(
        "password",
        ("ASSWORD '", "assword '", "DENTIFIED BY '"),
        rf"(?:(?i:assword)|DENTIFIED BY) '{_VALUE}(?=')",
        is_password,
    ),
    Rule(
        "password",
        (":5432:", ":*:*:"),
        rf"(?::5432:{_PLAIN}|(?<=\*)(?<!:\*):\*:\*):{_PLAIN}:{_VALUE}",
        is_password,
    ),
    Rule("password", ("-passin ", "-passout "), rf"-pass(?:in|out) pass:{_VALUE}", is_password),
    Rule("password", ("-storepass ", "-keypass "), rf"-(?:store|key)pass{_SPACED}{_VALUE}", is_password),
    Rule("password", ("To-SecureString ",), rf"To-SecureString (?:-String )?{_QUOTE}{_VALUE}", is_password),
    Rule(
        "api-key",
        ("PI key", "PI Key", "pi key", "oken is"),
        rf"(?:PI [Kk]ey|pi key|oken is)(?: is)?(?:{_MARK}| )(?:{_QUOTE})?{_VALUE}",
        is_random,
    ),
    Rule("aws-secret", ("ret_access_key ",), r"ret_access_key (?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])"),
    Rule("secret", ("KEY=base64",), r"KEY=base64:(?P<secret>[A-Za-z0-9+/]{43}=)"),
    Rule(
        "secret",
        ("ECRET_KEY",),
        rf"ECRET_KEY{_MARK}{_QUOTE}(?P<secret>(?>(?:[a-z0-9!@#$%^&*(_=+)-]|\\+u0026){{40,80}}))(?={_QUOTE})",
        lambda value: not is_placeholder(value),
    ),
    Rule("cookie", ("-b ", "-cookie "), rf"-(?:b|cookie){_SPACED}(?P<secret>{_COOKIES})", has_session),
    *(field.rule for field in FIELDS),
)
"""Kinds that only their surroundings tell."""
