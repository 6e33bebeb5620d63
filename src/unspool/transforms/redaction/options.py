"""Secrets that an option of a command holds, where the option alone says nothing: `ldapsearch -w`, `zip -P`."""

from unspool.transforms.likely import is_named, is_password, stands_for
from unspool.transforms.shapes import CHOSEN, LINE, QUOTE, QUOTED, VALUE, Rule

_SECRET = rf"(?P<secret>(?<=[\"'`]){QUOTED}|[A-Za-z0-9!#%^*+,./:@_~?=&-]{{6,200}})"
_USER = r"[A-Za-z0-9._@\\/+-]{1,100}"
_NAME = r"[A-Za-z0-9._\\-]{1,60}"
_CHARACTERS = r"[A-Za-z0-9!#%^*+,._~?=&-]"
_NEXT = r" {1,3}"
_TILL = r"(?:[^|;\"]|\\*\"(?![,:\]}]))*\Z"
"""The rest of a command up to its option, in JSON in one string."""


def _is_option(value: bytes) -> bool:
    """Return whether a command's argument may be a password: a weak one too, because the command says what it is."""
    return is_password(value) or (
        len(value) >= 6
        and not stands_for(value)
        and not value.startswith((b"-", b"/", b"./", b"~"))
        and any(byte in b"0123456789" for byte in value)
        and any(byte in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" for byte in value)
    )


def _option(commands: str, *options: str, user: str = "", glued: bool = False) -> Rule:
    """Return the rule for options of some commands."""
    space = rf"(?:{_NEXT})?" if glued else _NEXT
    literals = options if glued else tuple(f"{option} " for option in options)
    either = "|".join(options)
    pattern = rf"(?:{either}){space}(?:{QUOTE})?{user}{_SECRET}"
    return Rule(
        "password", literals, pattern, _is_option, before=rf"(?<![\w-])(?:{commands})(?:\.exe)?(?:\s|\\+t){_TILL}"
    )


OPTIONS: tuple[Rule, ...] = (
    _option(r"ldap\w+|security add-[\w-]+|nmcli|wpa_passphrase", "-w"),
    _option("zip|unzip|mosquitto_\\w+|ipmitool|tdbtool|sqlcmd|bcp|mqtt|iscsiadm|nxc|netexec", "-P"),
    _option(
        r"docker|podman|helm|skopeo|crane|nerdctl|buildah|az|oc|cf|xfreerdp|rdesktop|psexec|sshpass|mongo\w*|mongosh"
        r"|influx|arangosh|clickhouse|crackmapexec|nxc|netexec|evil-winrm|hydra|smbmap|plink|pscp|psftp|snowsql|ng"
        r"|keytool|pass|bw|vncviewer|rasdial|jfrog|jf|cypher-shell|rabbitmqadmin|couchbase-cli|cqlsh|sshfs|nuget",
        "-p",
    ),
    _option("7za?|7zr|unrar|rar|sshpass|mysql\\w*|mariadb\\w*|cqlsh|xfreerdp", "-p", glued=True),
    _option("openssl", "-k", "-K", "-passin", "-passout"),
    _option(r"redis-cli|valkey-cli|snmp\w+|redis-benchmark", "-a", "-A", "-X", "--pass", "-x"),
    _option(r"lftp|curl|http|https|mysql\w*|smbclient|wget|ncftp\w*", "-u", user=rf"{_USER},"),
    _option(r"smbclient|rpcclient|net|smbget|winexe|wmic|impacket-\w+", "-U", user=rf"(?:{_USER}|[^\s%]{{1,80}})%"),
    _option(r"curl|http|https|xh|wget", "-u", "-U", "--user", "--proxy-user", "-a", "--auth", user=rf"{_USER}:"),
    _option(
        r"skopeo|podman|buildah|crane|nuget|docker|gh|glab|git|elasticsearch-\w+|jenkins-cli\S*|java",
        "--src-creds",
        "--dest-creds",
        "--creds",
        "--auth",
        "-auth",
        user=rf"{_USER}:",
    ),
    Rule(
        "secret",
        ("-body ", "-body=", "-b "),
        rf"-b(?:ody)?[ =](?:{QUOTE})?{VALUE}",
        is_named,
        before=r"gh (?:secret|variable) set " + _TILL,
    ),
    Rule(
        "secret",
        ("SecureString ",),
        rf"SecureString (?:\\+{LINE}{{1,20}})?--value {{1,2}}(?:{QUOTE})?{_SECRET}",
        _is_option,
    ),
    Rule(
        "password",
        ("/p:", "/user:", "/pass:"),
        rf"/(?:p(?:ass)?:|user:{_USER} )(?:{QUOTE})?{_SECRET}",
        _is_option,
        before=r"(?:[xw]freerdp|net use|cmdkey|mstsc)" + _TILL,
    ),
    Rule(
        "password",
        ("sqlplus",),
        rf"sqlplus(?: -[A-Za-z]{{1,2}})* {_NAME}/(?P<secret>{_CHARACTERS}{{6,60}})",
        _is_option,
    ),
    Rule(
        "password",
        ("rabbitmqctl",),
        rf"rabbitmqctl (?:add_user|change_password|authenticate_user) {_USER} (?:{QUOTE})?{_SECRET}",
        _is_option,
    ),
    Rule("password", ("PASS ",), rf"(?<![A-Za-z_])PASS {_SECRET}", _is_option, before=r"(?:quote|quot|C:|>)\s*\Z|\A\Z"),
    Rule(
        "password",
        ("SET PASSWORD", "set password"),
        rf"(?i:set password(?: for [^\s]{{1,80}})? {{0,2}}= {{0,2}}(?:password\()?)'{CHOSEN}(?=')",
        is_password,
    ),
    Rule(
        "token",
        ("wandb login", "authtoken ", "snyk auth"),
        rf"(?:wandb login(?: --?[a-z-]+)*|authtoken|snyk auth) {{1,3}}(?:{QUOTE})?{VALUE}",
        is_named,
    ),
    Rule(
        "password",
        ("requirepass ", "masterauth ", "bindpw "),
        rf"(?:requirepass|masterauth|bindpw) {{1,20}}(?:{QUOTE})?{_SECRET}",
        _is_option,
    ),
    Rule("password", ("AUTH ",), rf"(?<![A-Za-z_])AUTH {{1,3}}(?:{QUOTE})?{VALUE}", is_named),
    Rule("password", ("AUTH PLAIN ", "AUTH LOGIN "), r"AUTH (?:PLAIN|LOGIN) (?P<secret>[A-Za-z0-9+/]{12,400}={0,2})"),
    Rule(
        "password",
        ("createUser ",),
        rf"createUser [^\s]{{1,60}} (?:MD5|SHA(?:-?[0-9]{{3}})?) (?:\S{{8,120}} (?:AES|DES) )?(?:{QUOTE})?{_SECRET}",
        _is_option,
    ),
    Rule("password", ("psk=", "PSK "), rf"(?:psk=|PSK )(?:{QUOTE})?{_SECRET}", _is_option),
    Rule("password", ("authtok ",), rf"authtok {{1,10}}= {{0,10}}(?:{QUOTE})?{VALUE}", is_password),
)
