"""What secrets look like: one rule a kind, each with the literal that must stand in the text before it is tried.

Rules are for bytes: UTF-8 text, or JSON as it was written. None of the characters of a secret, nor of what tells it
from its surroundings, is one that JSON must escape, with three exceptions that the rules know. Quotation marks may have
backslashes before them; an escape such as `\\n` is no part of the word that follows; and the lines of a private key may
be parted by escapes. So a rule finds the same in a text, in its JSON, and in the JSON of that.

What must not be tried again is an atomic group, `(?>…)`: Python before 3.11.5 matches `(?:…)++` wrongly.
"""

from unspool.transforms.commands import COMMANDS
from unspool.transforms.likely import (
    has_key,
    is_basic,
    is_key,
    is_named,
    is_password,
    is_placeholder,
    is_private_key,
    stands_for,
)
from unspool.transforms.redaction.contexts import CONTEXTS, DER
from unspool.transforms.redaction.names import FIELDS
from unspool.transforms.redaction.options import OPTIONS
from unspool.transforms.redaction.providers import PROVIDERS
from unspool.transforms.redaction.sentences import SENTENCES
from unspool.transforms.shapes import (
    ALONE,
    CELL,
    CHOSEN,
    CREDENTIALS,
    DEFAULT,
    END,
    GAP,
    HASH,
    JOINED,
    LINE,
    MARGIN,
    MARK,
    PLAIN,
    QUOTE,
    VALUE,
    Rule,
    long,
    prefixed,
)

_PEM = r"[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_WORDS = r"[A-Za-z0-9_-]"
_GITLAB = ("pat", "ptt", "dt", "rt", "cbt", "oas", "ft", "imt", "agent", "soat")
_USER = r"[A-Za-z0-9._~!$&()*+,;=%{}-]"
_SECRET_USER = r"[A-Za-z0-9._~!$&()*+,;=%{}:#^-]"

RULES: tuple[Rule, ...] = (
    Rule("anthropic-key", ("sk-",), rf"{ALONE}sk-ant-{_WORDS}{{20,400}}"),
    Rule("openai-key", ("sk-",), rf"{ALONE}sk-{_WORDS}{{20,400}}", is_key),
    Rule("stripe-key", ("k_live_", "k_test_"), rf"{ALONE}[sr]k_(?:live|test)_[A-Za-z0-9]{{16,}}", back=1),
    Rule("groq-key", ("gsk_",), rf"{ALONE}gsk_[A-Za-z0-9]{{40,}}"),
    Rule("google-key", ("AIza",), rf"{ALONE}AIza{_WORDS}{{35}}{END}"),
    Rule("google-secret", ("GOCSPX-",), rf"{ALONE}GOCSPX-{_WORDS}{{24,100}}"),
    Rule("aws-key", ("AKIA", "ASIA"), rf"{ALONE}A[KS]IA[A-Z0-9]{{16}}{END}"),
    Rule("github-token", tuple(f"gh{letter}_" for letter in "pousr"), rf"{ALONE}gh[pousr]_[A-Za-z0-9]{{30,}}"),
    Rule("github-token", ("github_pat_",), rf"{ALONE}github_pat_[A-Za-z0-9_]{{22,300}}"),
    Rule(
        "gitlab-token",
        tuple(f"gl{kind}-" for kind in _GITLAB),
        rf"{ALONE}gl(?:{'|'.join(_GITLAB)})-[A-Za-z0-9_.-]{{19,300}}[A-Za-z0-9_-]",
    ),
    Rule(
        "slack-token",
        tuple(f"xox{letter}-" for letter in "abcdeprs"),
        rf"{ALONE}xox[abcdeprs]-(?:[A-Za-z0-9-]|%[0-9A-F]{{2}}){{10,400}}",
    ),
    Rule("slack-token", ("xapp-",), rf"{ALONE}xapp-[0-9]-[A-Za-z0-9-]{{20,400}}"),
    long("huggingface-token", "hf_", r"[A-Za-z0-9]{30,60}"),
    long("npm-token", "npm_", r"[A-Za-z0-9]{36,60}"),
    Rule("pypi-token", ("pypi-",), rf"{ALONE}pypi-{_WORDS}{{50,1000}}"),
    Rule("sendgrid-key", ("SG.",), rf"{ALONE}SG\.{_WORDS}{{16,32}}\.{_WORDS}{{16,100}}"),
    Rule("twilio-key", ("SK",), rf"{ALONE}SK[0-9a-f]{{32}}{END}"),
    Rule("azure-secret", ("Q~",), rf"{ALONE}[A-Za-z0-9_~.-]{{3}}[0-9]Q~[A-Za-z0-9_~.-]{{30,60}}[A-Za-z0-9_~-]", back=4),
    long("xai-key", "xai-", r"[A-Za-z0-9]{60,100}"),
    long("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,64}"),
    long("replicate-key", "r8_", r"[A-Za-z0-9]{37}"),
    long("fireworks-key", "fw_", r"[A-Za-z0-9]{22,24}", is_named),
    long("cerebras-key", "csk-", r"[a-z0-9]{40,64}"),
    long("together-key", "tgp_v1_", rf"{_WORDS}{{40,64}}"),
    long("nvidia-key", "nvapi-", rf"{_WORDS}{{60,80}}"),
    long("voyage-key", "pa-", rf"{_WORDS}{{43}}", is_named),
    long("elevenlabs-key", "sk_", r"[0-9a-f]{48}"),
    long("huggingface-token", "api_org_", r"[A-Za-z0-9]{34}"),
    long("tavily-key", "tvly-", rf"{_WORDS}{{32,64}}", is_named),
    long("firecrawl-key", "fc-", r"[0-9a-f]{32}"),
    long("jina-key", "jina_", rf"{_WORDS}{{50,80}}", is_named),
    long("e2b-key", "e2b_ sk_e2b_", r"[0-9a-f]{40}"),
    long("langsmith-key", "lsv2_", r"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    long("pinecone-key", "pcsk_", r"[A-Za-z0-9]{5,8}_[A-Za-z0-9]{50,80}"),
    long("wandb-key", "wandb_v1_", rf"{_WORDS}{{40,100}}"),
    long("posthog-key", "phx_", r"[A-Za-z0-9]{40,60}"),
    prefixed("aws-key", "ABSK", r"[A-Za-z0-9+/]{100,200}={0,2}"),
    prefixed("aws-token", "IQoJb3JpZ2lu", r"[A-Za-z0-9+/]{100,4000}={0,2}"),
    Rule("azure-key", ("JQQJ99",), rf"{ALONE}[A-Za-z0-9]{{52}}JQQJ99[A-Za-z0-9]{{26,40}}", back=52),
    long("google-token", "ya29.", rf"{_WORDS}{{30,2000}}"),
    long("google-key", "AQ.Ab8", rf"{_WORDS}{{40,80}}"),
    long("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    long("databricks-token", "dapi", r"[0-9a-f]{32}(?:-[0-9])?"),
    long("vault-token", "hvs.", rf"{_WORDS}{{24,400}}", is_named),
    long("pulumi-token", "pul-", r"[0-9a-f]{40}"),
    long("docker-token", "dckr_pat_ dckr_oat_", rf"{_WORDS}{{27,40}}"),
    long("rubygems-key", "rubygems_", r"[0-9a-f]{48}"),
    long("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    long("square-token", "sq0atp- sq0csp-", rf"{_WORDS}{{22,43}}"),
    prefixed("stripe-key", "whsec_", r"[A-Za-z0-9+/]{32,64}={0,2}"),
    long("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,64}"),
    long("notion-token", "ntn_ secret_", r"[A-Za-z0-9]{43,50}"),
    long("figma-token", "figd_", rf"{_WORDS}{{38,60}}"),
    long("atlassian-token", "ATATT3xFfG ATCTT3xFfG ATBB", r"[A-Za-z0-9_=-]{28,300}"),
    long("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    long("newrelic-key", "NRAK-", r"[A-Z0-9]{27}"),
    prefixed("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_-]{60,400}"),
    long("grafana-token", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    prefixed("grafana-token", "glc_eyJ", r"[A-Za-z0-9+/]{32,400}={0,2}"),
    long("supabase-key", "sbp_", r"(?:v0_)?[0-9a-f]{40}"),
    long("supabase-key", "sb_secret_", rf"{_WORDS}{{31}}"),
    long("vercel-token", "vca_ vci_ vck_ vcp_ vcr_", r"[A-Za-z0-9]{50,60}"),
    long("netlify-token", "nfp_", r"[A-Za-z0-9]{36}"),
    long("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.-]{31,63}[A-Za-z0-9_-]"),
    long("neon-key", "napi_", r"[a-z0-9]{60,70}"),
    long("runpod-key", "rpa_", r"[A-Za-z0-9]{40,60}"),
    long("resend-key", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,26}", is_named),
    long("contentful-token", "CFPAT-", rf"{_WORDS}{{43}}"),
    long("onepassword-token", "ops_eyJ", rf"{_WORDS}{{200,1200}}"),
    long("circleci-token", "CCIPAT_", r"[A-Za-z0-9]{22}_[0-9a-f]{40}"),
    long("buildkite-token", "bkua_", r"[0-9a-f]{40}"),
    long("prefect-key", "pnu_ pnb_", r"[A-Za-z0-9]{36}"),
    long("clojars-token", "CLOJARS_", r"[0-9a-f]{60}"),
    long("shippo-token", "shippo_live_ shippo_test_", r"[0-9a-f]{40}"),
    long("typeform-token", "tfp_", rf"{_WORDS}{{40,70}}", is_named),
    long("readme-key", "rdme_", r"[a-z0-9]{70}"),
    long("deno-token", "ddp_ ddo_", r"[A-Za-z0-9]{36}"),
    long("jfrog-token", "AKCp", r"[A-Za-z0-9]{69}"),
    long("mapbox-token", "sk.eyJ", rf"{_WORDS}{{40,120}}\.{_WORDS}{{20,30}}"),
    prefixed("fly-token", "fm1r_ fm1a_ fm2_", r"[A-Za-z0-9+/]{80,2000}={0,3}"),
    long("heroku-key", "HRKU-AA", rf"{_WORDS}{{50,64}}"),
    long("tailscale-key", "tskey-", r"[a-z]{3,10}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{16,64}"),
    long("sourcegraph-token", "sgp_", r"(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    long("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}"),
    long("mailgun-key", "key-", r"[0-9a-f]{32}"),
    Rule("mailchimp-key", ("-us",), rf"{ALONE}[0-9a-f]{{32}}-us[0-9]{{1,2}}{END}", back=32),
    prefixed("private-key", "LS0tLS1CRUdJTi", r"[A-Za-z0-9+/]{86,20000}={0,2}", is_private_key),
    prefixed(
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
        rf"{ALONE}eyJ{_WORDS}{{8,1000}}+\.(?:eyJ{_WORDS}{{8,16000}}+\.{_WORDS}*"
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
    *PROVIDERS,
    *DER,
)
"""Kinds that a secret tells by itself. They come first: the same key has the same placeholder, however it is named."""

WEAK: tuple[Rule, ...] = (
    Rule(
        "url-password",
        ("://",),  # a token that is the user, with no password or a fixed one
        rf"(?:(?<=http)|(?<=https))://(?P<secret>{_WORDS}{{20,200}}+)(?::(?:x-oauth-basic)?)?@",
        is_named,
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
    Rule("authorization", ("Bearer ",), rf"Bearer {{1,2}}{CREDENTIALS}", is_named),
    Rule("authorization", ("Basic ",), r"Basic {1,2}(?P<secret>[A-Za-z0-9+/]{8,}+={0,2})", is_basic),
    Rule(
        "webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/[a-z]+/(?P<secret>T[A-Z0-9]+/[A-Z0-9]+/[A-Za-z0-9]{16,})"
    ),
    Rule("webhook", ("/api/webhooks/",), rf"/api/webhooks/[0-9]{{17,20}}/(?P<secret>{_WORDS}{{60,100}})"),
    Rule("webhook", ("/IncomingWebhook/",), r"/IncomingWebhook/(?P<secret>[0-9a-f]{32})"),
    Rule("telegram-token", (":AA",), rf"(?<=[0-9]{{8}}):(?P<secret>AA{_WORDS}{{33}}){END}", is_named),
    Rule("azure-key", ("sig=",), r"sig=(?P<secret>[A-Za-z0-9%+/]{43,100}(?:%3D|=))"),
    Rule(
        "password",
        ("login(", "auth=(", "BasicAuth("),
        rf"(?:login|auth=|BasicAuth)\({QUOTE}[A-Za-z0-9._@%+-]{{1,100}}{QUOTE}, ?{QUOTE}{CHOSEN}(?={QUOTE} ?\))",
        is_password,
    ),
    Rule(
        "password",
        ("machine", "default login "),
        rf"(?:machine{GAP}[^\s\\]{{1,200}}|default){GAP}login{GAP}[^\s\\]{{1,200}}{GAP}"
        rf"(?:account{GAP}[^\s\\]{{1,200}}{GAP})?password{GAP}{VALUE}",
        is_password,
    ),
    Rule("password", ("password ",), rf"password {VALUE}", is_named),
    Rule(
        "password",
        ("password ",),
        rf"password {VALUE}",
        is_password,
        before=r"(?:nmcli|wifi|msmtp|user[ =]\S+)[^|;]*\Z",
    ),
    Rule("password", ("ASSWORD",), rf"ASSWORD{DEFAULT}{VALUE}", is_password),
    Rule(
        "password",
        ("ASSWORD ", "assword ", "DENTIFIED BY "),
        rf"(?:(?i:assword)|DENTIFIED BY) {QUOTE}{CHOSEN}(?={QUOTE})",
        is_password,
    ),
    Rule("password", ("assword  ",), rf"assword {{2,40}}{VALUE}(?=\s|\\|\Z)", is_password),
    Rule("password", ("assword><", "assword&gt;"), rf"assword>(?:{LINE}){{0,20}}<Value>{VALUE}(?=<)", is_password),
    Rule(
        "url-password",
        ("jdbc:oracle:",),
        r"jdbc:oracle:[a-z]+:[A-Za-z0-9_.-]{1,60}/(?P<secret>[A-Za-z0-9!#$%^*+_.-]{4,60})@",
    ),
    Rule("token", ("add-mask::",), rf"add-mask::{VALUE}", is_password),
    Rule("token", ("-bearer ",), rf"-bearer {{1,3}}(?:{QUOTE})?{VALUE}", is_named),
    Rule("password", ("-N ",), rf"-N {{1,2}}(?:{QUOTE})?{CHOSEN}", is_password, before=r"ssh-keygen[^|;]*\Z"),
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
        is_named,
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
    *OPTIONS,
    *CONTEXTS,
    *SENTENCES,
    *(field.rule for field in FIELDS),
)
"""Kinds that only their surroundings tell."""
