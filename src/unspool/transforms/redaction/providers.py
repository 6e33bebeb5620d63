"""Keys of services, each with the prefix that its provider gives it.

The forms are those of the providers' documents and of keys that they issue. Where a prefix is also a word of a program,
the characters after it must be unlike words.
"""

from unspool.transforms.likely import is_named
from unspool.transforms.shapes import END, START, Rule, long, prefixed, word

_W = r"[A-Za-z0-9_-]"
_A = r"[A-Za-z0-9]"
_H = r"[0-9a-f]"
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

CLOUDS: tuple[Rule, ...] = (
    prefixed("aws-key", "ABIA ACCA", r"[A-Z2-7]{16}"),
    prefixed("aws-token", "FwoGZXIvYXdz", r"[A-Za-z0-9+/]{100,4000}={0,2}"),
    prefixed("aws-key", "bedrock-api-key-", r"[A-Za-z0-9+/]{40,4000}={0,2}"),
    prefixed("google-token", "1//0", rf"{_W}{{38,200}}"),
    prefixed("alibaba-key", "LTAI", rf"{_A}{{12,24}}", is_named),
    long("tencent-key", "AKID", rf"{_A}{{32,36}}", is_named),
    long("yandex-key", "AQVN", rf"{_W}{{35,38}}"),
    long("yandex-token", "t1.", rf"{_W}{{20,1000}}={{0,2}}\.{_W}{{86}}={{0,2}}"),
    long("cloudflare-key", "v1.0-", rf"{_H}{{24}}-{_H}{{120,180}}"),
    long("cloudflare-token", "cfut_ cfat_ cfk_", rf"{_W}{{30,80}}"),
    prefixed("scaleway-key", "SCW", r"[A-Z0-9]{17}", is_named),
    long("render-key", "rnd_", rf"{_A}{{24,40}}", is_named),
    long("doppler-token", "dp.", rf"(?:pt|ct|sa|scim|audit|said|st(?:\.[a-z0-9_-]{{2,35}})?)\.{_A}{{40,44}}"),
    long("infisical-token", "st.", rf"{_W}{{20,40}}\.{_H}{{30,64}}\.{_H}{{30,64}}"),
    long("vault-token", "hvb. hvr.", rf"{_W}{{24,400}}", is_named),
    long("openshift-token", "sha256~", rf"{_W}{{43}}"),
    long("clickhouse-key", "4b1d", rf"{_A}{{38}}", is_named),
    long("cockroach-key", "CCDB1_", rf"{_A}{{20,24}}_{_A}{{36,44}}"),
    long("dynatrace-token", "dt0", r"[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    long("defined-networking-key", "dnkey-", rf"{_W}{{20,30}}-{_W}{{40,60}}"),
    long("scalingo-token", "tk-us- tk-eu-", rf"{_W}{{48}}"),
    long("fly-token", "fo1_", rf"{_W}{{43}}"),
    prefixed("grafana-key", "eyJrIjoi", r"[A-Za-z0-9+/]{60,400}={0,3}"),
    long("newrelic-key", "NRII- NRIQ-", rf"{_W}{{32}}"),
    long("newrelic-key", "NRJS-", rf"{_H}{{19}}"),
    long("newrelic-key", "NRAA- NRRA- NRAL-", rf"{_H}{{20,50}}"),
    long("honeycomb-key", "hcaik_ hcamk_ hcaic_ hcxik_", r"[a-z0-9]{50,64}"),
    long("logfire-token", "pylf_v", rf"[0-9]_(?:[a-z]{{2}}_)?{_A}{{40,50}}"),
    long("axiom-token", "xaat- xapt-", _UUID),
    long("launchdarkly-key", "sdk- api- rel-", _UUID),
    long("statsig-key", "secret-", rf"{_A}{{40,50}}", is_named),
    long("modal-token", "as- ak- wk- ws-", rf"{_A}{{22}}", is_named),
)

CODE: tuple[Rule, ...] = (
    long("gitlab-token", "GR1348941", rf"{_W}{{20,27}}"),
    long("gitlab-token", "glffct- glrtr- glwt-", rf"{_W}{{18,64}}"),
    prefixed("bitbucket-token", "BBDC-", r"[A-Za-z0-9+/]{40,48}"),
    long("atlassian-token", "ATATT3x ATCTT3x ATOAT", r"[A-Za-z0-9_=-]{60,400}"),
    long("trello-token", "ATTA", r"[0-9a-fA-F]{64,80}"),
    long("nuget-key", "oy2", r"[a-z0-9]{43}"),
    long("cargo-token", "cio", rf"{_A}{{32}}", is_named),
    long("jfrog-token", "cmVmdGtu", rf"{_A}{{50,60}}"),
    long("sonar-token", "squ_ sqp_ sqa_ sqb_", rf"{_H}{{40}}"),
    long("harness-token", "pat. sat.", rf"{_W}{{20,24}}\.{_A}{{24}}\.{_A}{{20}}"),
    long("octopus-key", "API-", r"[A-Z0-9]{25,32}", is_named),
    long("infracost-key", "ico-", rf"{_A}{{32}}", is_named),
    long("sourcegraph-token", "sgd_ sgs_ slk_", rf"{_H}{{40,64}}"),
    long("npm-token", "npms_", rf"{_W}{{30,60}}"),
    long("gitea-token", "gto_", r"[a-z2-7]{50,60}"),
    long("github-token", "v1.", rf"{_H}{{40}}"),
)

SERVICES: tuple[Rule, ...] = (
    long("slack-token", "xoxe.xox", r"[bp]-[0-9]-[A-Za-z0-9]{100,200}"),
    long("discord-token", "mfa.", rf"{_W}{{84}}"),
    long("stripe-key", "sk_prod_ rk_prod_", rf"{_A}{{10,120}}", is_named),
    long("square-token", "EAAA", rf"{_W}{{56,70}}", is_named),
    long(
        "facebook-token",
        "EAAC EAAM EAAB EAAG EAAD EAAI EAAJ EAAE EAAF EAAH EAAK EAAL EAAN EAAO EAAP",
        rf"{_A}{{60,400}}",
        is_named,
    ),
    long("instagram-token", "IGQV IGAA", rf"{_W}{{100,400}}"),
    long("linkedin-token", "AQX AQV AQU AQW", rf"{_W}{{140,500}}", is_named),
    prefixed("paypal-token", "access_token$", rf"(?:production|sandbox)\${_A}{{16}}\${_H}{{32}}"),
    prefixed("razorpay-key", "rzp_live_ rzp_test_", rf"{_A}{{14}}"),
    prefixed("adyen-key", "AQE", r"[a-zA-Z0-9+/]{1,6}hmf[A-Za-z0-9+/_-]{50,300}={0,2}"),
    long("flutterwave-key", "FLWSECK-", rf"{_A}{{32,36}}-X"),
    long("flutterwave-key", "FLWSECK_TEST- FLWSECK_LIVE-", rf"{_A}{{12,36}}(?:-X)?"),
    long("checkout-key", "sk_", _UUID),
    long("checkout-key", "sk_sbox_", rf"{_A}{{26,32}}"),
    long("gocardless-token", "live_", rf"{_W}{{35,44}}", is_named),
    long("duffel-token", "duffel_live_ duffel_test_", rf"{_W}{{40,48}}"),
    long("easypost-key", "EZAK EZTK", rf"{_A}{{54}}"),
    long("plaid-token", "access-", rf"(?:production|development|sandbox)-{_UUID}"),
    long("klaviyo-key", "pk_", rf"{_H}{{34}}"),
    long("clickup-token", "pk_", r"[0-9]{6,10}_[A-Z0-9]{32}"),
    long("brevo-key", "xkeysib- xsmtpsib-", rf"{_H}{{64}}-{_A}{{16}}"),
    long("mailersend-token", "mlsn.", rf"{_H}{{64}}"),
    long("hubspot-token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", _UUID),
    prefixed("intercom-token", "dG9rOj", r"[A-Za-z0-9+/]{40,100}={0,2}"),
    Rule("asana-token", ("/12",), rf"{START}[012]/12[0-9]{{10,16}}(?:/12[0-9]{{10,16}})?:{_H}{{32}}{END}", back=1),
    long("dropbox-token", "sl.", rf"(?:u\.)?{_W}{{120,1200}}"),
    long("shopify-token", "shptka_ shpua_ shpsb_ shpit_", r"[0-9a-fA-F]{32}"),
    long("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", r"(?:[A-Za-z0-9]|%[0-9A-F]{2}){40,120}", is_named),
    long("frameio-token", "fio-u-", rf"{_W}{{64}}"),
    long("adobe-secret", "p8e- s8e-", rf"{_W}{{32}}"),
    long("adafruit-key", "aio_", rf"{_A}{{28}}"),
    long("onepassword-key", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{5,6}(?:-[A-Z0-9]{4,6}){3,4}"),
    prefixed("settlemint-token", "sm_pat_ sm_aat_ sm_sat_", rf"{_A}{{16}}"),
    long("intra42-secret", "s-s4t2ud- s-s4t2af-", rf"{_H}{{64}}"),
    prefixed(
        "authress-key",
        "scauth_ authress_",
        r"[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}",
    ),
    long("apify-token", "apify_api_", rf"{_A}{{30,42}}"),
    long("pipedream-key", "pd_api_", rf"{_H}{{32}}"),
    long("telnyx-key", "KEY0", rf"[0-9A-F]{{30}}_{_A}{{22}}"),
    long("nylas-key", "nyk_v0_", rf"{_A}{{60,70}}"),
    long("firebase-key", "APA91b", rf"{_W}{{120,200}}"),
    Rule("webhook", ("hooks.zapier.com/",), r"hooks\.zapier\.com/hooks/catch/[0-9]+/(?P<secret>[A-Za-z0-9]{5,12})"),
    Rule(
        "webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/[a-z]+/(?P<secret>T[A-Z0-9]+/[A-Za-z0-9]+/[A-Za-z0-9]{16,})",
    ),
    Rule("webhook", ("/IncomingWebhook/",), rf"/IncomingWebhook/(?P<secret>{_H}{{32}}(?:/{_UUID})?)"),
    Rule(
        "webhook", ("logic.azure.com",), r"logic\.azure\.com[^\s\"'`\\]{0,300}[?&]sig=(?P<secret>[A-Za-z0-9_-]{30,60})"
    ),
    long("anthropic-key", "sk-ant_", rf"{_W}{{40,200}}"),
    long("openai-key", "sk-lf-", _UUID),
    long("pinecone-key", "pclocal_", rf"{_A}{{30,80}}"),
    long("mux-token", "mux_", rf"{_A}{{40,80}}", is_named),
    long("paddle-key", "pdl_live_ pdl_sdbx_", rf"{_A}{{8,40}}[A-Za-z0-9_]{{10,60}}"),
    long("polar-token", "polar_", r"(?:oat|pat|whs)_[A-Za-z0-9]{30,60}"),
    long("lemonsqueezy-key", "lmsq_", rf"{_A}{{30,60}}"),
    long("clerk-key", "ak_ ek_", rf"{_A}{{32,64}}", is_named),
    long("xata-key", "xau_", rf"{_A}{{30,50}}"),
    long("knock-key", "sk_knock_", rf"{_W}{{30,60}}"),
)

_BASE58 = "[1-9A-HJ-NP-Za-km-z]"
WORDS: tuple[Rule, ...] = (
    word("yandex-key", rf"YC{_W}{{38}}", is_named),
    word("airtable-token", rf"pat{_A}{{14}}\.{_H}{{64}}"),
    word("azure-devops-token", rf"{_A}{{76}}AZDO{_A}{{4}}"),
    word("bitwarden-token", rf"0\.{_UUID}\.{_A}{{24,40}}:[A-Za-z0-9+/]{{22}}=="),
    word("discord-token", rf"[MNO][A-Za-z0-9]{{22,27}}\.[A-Z]{_W}{{5}}\.{_W}{{27,40}}"),
    word("mailgun-key", rf"{_H}{{32}}-{_H}{{8}}-{_H}{{8}}"),
    word("maxmind-key", rf"{_A}{{6}}_{_A}{{29}}_mmk"),
    word("newrelic-key", rf"(?:eu01x{{2,4}}|{_H}{{4,8}}){_H}{{22,34}}F{{0,4}}NRAL"),
    word("ngrok-token", rf"[12]{_A}{{26}}_{_A}{{20,22}}", is_named),
    word("private-key", rf"[KL]{_BASE58}{{51}}|5[HJK]{_BASE58}{{49}}", is_named),
    word("rapidapi-key", rf"{_H}{{10}}msh{_H}{{15}}p1{_H}{{6}}jsn{_H}{{12}}"),
    word("salesforce-token", rf"00D{_A}{{12,15}}!A[A-Za-z0-9._-]{{60,200}}"),
    word("sanity-token", rf"sk{_A}{{150,200}}"),
    word("terraform-token", rf"{_A}{{14}}\.atlasv1\.{_W}{{60,80}}"),
    word("vault-token", rf"s\.{_A}{{24}}", is_named),
)

KEYS: tuple[Rule, ...] = (
    long("private-key", "xprv yprv zprv tprv", rf"{_A}{{100,112}}"),
    long("private-key", "nsec1", r"[a-z0-9]{58}"),
    prefixed("private-key", "RWRTY0Iy", r"[A-Za-z0-9+/]{130,220}={0,2}"),
    prefixed("private-key", "b3BlbnNzaC1rZXktdjEA", r"[A-Za-z0-9+/]{80,6000}={0,2}"),
    prefixed(
        "password-hash",
        "pbkdf2_sha256$ pbkdf2_sha1$",
        r"[0-9]{4,8}\$[A-Za-z0-9+/=_-]{4,40}\$[A-Za-z0-9+/]{27,44}={0,2}",
    ),
    prefixed(
        "password-hash",
        "scrypt:32768:8:1$ scrypt:16384:8:1$ scrypt:65536:8:1$",
        rf"[A-Za-z0-9./+]{{8,40}}\${_H}{{64,128}}",
    ),
    prefixed("password-hash", "pbkdf2:", rf"sha[0-9]{{1,3}}:[0-9]{{3,8}}\${_A}{{8,40}}\${_H}{{40,128}}"),
    Rule("password-hash", ("$7$",), r"\$7\$[./A-Za-z0-9]{11,60}\$[./A-Za-z0-9]{43}"),
    Rule("password-hash", ("{SHA}", "{SSHA}"), r"\{S?SHA\}(?P<secret>[A-Za-z0-9+/]{27,60}={0,2})"),
    Rule("password-hash", ("aad3b435b51404ee",), r"aad3b435b51404eeaad3b435b51404ee:(?P<secret>[0-9a-fA-F]{32})"),
    Rule("password-hash", ("{SSHA512}", "{SSHA256}"), r"\{SSHA(?:512|256)\}(?P<secret>[A-Za-z0-9+/]{50,140}={0,2})"),
    Rule(
        "ansible-vault",
        ("$ANSIBLE_VAULT;",),
        r"\$ANSIBLE_VAULT;[0-9.]{3,5};AES(?:256)?(?:;[A-Za-z0-9_-]{1,40})?"
        r"(?P<secret>(?:(?:[ \r\n\t]|\\+[nrt]){1,60}[0-9a-f]{10,80}(?![0-9A-Za-z]))+)",
    ),
    Rule(
        "private-key",
        ("OpenVPN Static key V1-----",),
        r"OpenVPN Static key V1-----(?P<secret>(?:(?:[ \r\n\t]|\\+[nrt]){1,20}[0-9a-f]{32,80})+)",
    ),
)

PROVIDERS: tuple[Rule, ...] = (*CLOUDS, *CODE, *SERVICES, *WORDS, *KEYS)
