"""Secrets that a command line tells: `--password …`, `mysql -p…`, `echo … | sudo -S`."""

from unspool.transforms.likely import has_session, is_named, is_password, is_placeholder, stands_for
from unspool.transforms.shapes import (
    CHOSEN,
    COOKIES,
    LINE,
    QUOTE,
    SAME,
    SPACED,
    VALUE,
    Rule,
)

_SET = r"set --?[A-Za-z]{1,8} [A-Za-z0-9_]*"
_VARIABLE = r"(?:OKEN|ECRET(?:_KEY)?|_KEY|REDENTIALS?)"
_LOGIN = r"(?:docker|podman|az|oc) login"
_ASKS = (
    rf"(?:sudo (?:-[A-Za-z]{{1,2}} (?:\\*[\"']\\*[\"'] )?){{0,4}}-[A-Za-z]{{0,3}}S"
    rf"|(?:sudo )?(?:chpasswd|passwd --stdin)|{SAME}--(?:password|token|pass)-?stdin|{SAME}-pass(?:in)? stdin"
    r"|gh (?:secret set|auth login)|wrangler (?:pages )?secret put|(?:npx )?vercel env add|docker secret create"
    r"|podman secret create|pass insert|su(?: -c)? |kinit|cryptsetup|smbpasswd|gpg --batch|gpg [^|]{0,80}-passphrase-fd"
    r"|gcloud secrets (?:create|versions)|fly(?:ctl)? secrets|netlify env:set|doppler secrets set|vault login)"
)
"""A command that reads a password."""
_PIPED = r"(?P<secret>[A-Za-z0-9!#%+,./:=@^_~?*&;()$-]{4,200})"
"""What a pipe brings to a command: `echo … |`."""


def _options(*words: str) -> tuple[str, ...]:
    """What stands before the value of a command's option, such as `--api-key `."""
    return tuple(f"-{word} " for word in words)


COMMANDS: tuple[Rule, ...] = (
    Rule("token", _options("token", "key", "secret"), rf"-(?:token|key|secret){SPACED}{VALUE}", is_named),
    Rule("password", _options("password", "passwd", "passphrase"), rf"-pass[a-z]+{SPACED}{VALUE}", is_password),
    Rule("password", ("sshpass -p",), rf"sshpass -p{SPACED}?{VALUE}", is_password),
    Rule("password", ("mysql",), rf"mysql[a-z]{{0,6}} (?:{SAME} )?-p(?:{QUOTE})?{VALUE}", is_password),
    Rule(
        "password",
        ("docker login", "podman login", "az login", "oc login"),
        rf"{_LOGIN} (?:{SAME} )?-p(?:{SPACED}){VALUE}",
        is_password,
    ),
    Rule("password", ("sqlcmd",), rf"sqlcmd (?:{SAME} )?-P{SPACED}{VALUE}", is_password),
    Rule(
        "password",
        ("htpasswd -",),
        r"htpasswd -[A-Za-z]{0,4}b[A-Za-z]{0,4} (?:-[A-Za-z]{1,4} |-C [0-9]{1,2} ){0,4}(?:[^\s\"'`\\|;]{1,200} ){1,2}"
        rf"(?:{QUOTE})?{VALUE}(?={LINE}{{0,4}}(?:[|;>&)]|\Z)|{QUOTE}|\\+n|\n)",
        is_password,
    ),
    Rule(
        "password",
        ("echo ",),
        rf"echo (?:-[neE]{{1,3}} )?(?:{QUOTE})?"
        r"(?:[A-Za-z0-9_-]{1,32}:(?=[^|\s]{1,200} {0,3}\| {0,3}(?:sudo )?chpasswd))?"
        rf"{_PIPED}(?:\\+n)?(?:{QUOTE})? {{0,3}}\| {{0,3}}"
        rf"{_ASKS}",
        lambda value: not stands_for(value) and not is_placeholder(value),
    ),
    Rule(
        "password",
        ("sudo -S",),
        rf"sudo -S{SAME}<<< {{0,2}}(?:{QUOTE})?{_PIPED}",
        lambda value: not stands_for(value),
    ),
    Rule("password", ("redis-cli",), rf"redis-cli (?:{SAME} )?-a {VALUE}", is_password),
    Rule("password", ("-u ", "-user ", "-user="), rf"-u(?:ser)?(?:{SPACED}|=)[A-Za-z0-9._@%+-]+:{VALUE}", is_password),
    Rule("password", ("set -",), rf"{_SET}(?i:passw(?:or)?d|_pass|pwd){SPACED}{VALUE}", is_password),
    Rule("secret", ("set -",), rf"{_SET}(?i:token|key|secret){SPACED}{VALUE}", is_named),
    Rule("secret", ("OKEN", "ECRET", "_KEY", "REDENTIAL"), rf"{_VARIABLE}{SPACED}{VALUE}", is_named),
    Rule("password", ("-passin ", "-passout ", "-pass pass:"), rf"-pass(?:in|out)? pass:{VALUE}", is_password),
    Rule("password", ("-storepass ", "-keypass "), rf"-(?:store|key)pass{SPACED}{VALUE}", is_password),
    Rule("password", ("To-SecureString ",), rf"To-SecureString (?:-String )?{QUOTE}{CHOSEN}", is_password),
    Rule("aws-secret", ("ret_access_key ",), r"ret_access_key (?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])"),
    Rule("cookie", ("-b ", "-cookie "), rf"-(?:b|cookie){SPACED}(?P<secret>{COOKIES})", has_session),
)
