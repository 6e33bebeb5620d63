"""`unspool provider`"""

import sys

import click

from unspool.cli.options import JSON


@click.group("provider")
def command() -> None:
    """Who answers: the providers that are known, and the pointers that name models of theirs.

    Pointers and further providers are written in config.toml in $UNSPOOL_HOME; keys come from the environment, from the
    system's keyring, or from a file that only you can read.
    """


@command.command("list", short_help="Every provider: its API, key, address, pointers.")
@JSON
def list_(as_json: bool) -> None:
    """Every provider: its API, its address, where its key is found, and the pointers to it."""
    from unspool.cli.json_lines import echo
    from unspool.cli.words import say
    from unspool.jobs.providers import record, rows
    from unspool.providers.config import config_path

    found, config, faults = rows()
    for fault in faults:
        say(fault)
    if as_json:
        echo(map(record, found))
        return
    keys = [row.key or ("needs none" if row.keyless else "-") for row in found]
    named, kept = max(len("provider"), *(len(row.name) for row in found)), max(map(len, keys))
    click.echo(f"{'provider':<{named}} {'api':<9} {'key':<{kept}} address")
    for row, key in zip(found, keys, strict=True):
        click.echo(f"{row.name:<{named}} {row.api:<9} {key:<{kept}} {row.base_url}")
        for name, model in row.pointers.items():
            default = " (default)" if name == config.default else ""
            click.echo(f"  {name} → {model}{default}")
    if not config.pointers:
        say(f"no pointers yet: they are written in {config_path()}")


@command.command("check", short_help="Whether keys are taken, and models are there.")
@click.argument("names", metavar="[PTR|PROVIDER…]", nargs=-1)
@JSON
def check(names: tuple[str, ...], as_json: bool) -> None:
    """Ask for the models of each: whether its key is taken, and the pointer's model is there. Exit status 1 if not.

    Without names, every pointer, and every provider that there is a key for.
    """
    from unspool.cli.json_lines import echo
    from unspool.cli.words import colour
    from unspool.jobs.providers import check

    failed = False
    for each in check(names):
        failed = failed or not each.ok
        if as_json:
            echo([each])
        else:
            mark = click.style("✓", fg="green") if each.ok else click.style("✗", fg="red")
            click.echo(f"{mark} {each.name}  {each.told}", color=colour())
    if failed:
        click.get_current_context().exit(1)


@command.command("models")
@click.argument("name", metavar="PROVIDER|PTR")
@JSON
def models(name: str, as_json: bool) -> None:
    """The models that a provider lists."""
    from unspool.cli.json_lines import echo
    from unspool.jobs.providers import list_models

    found = list_models(name)
    if as_json:
        echo({"model": model} for model in found)
    else:
        for model in found:
            click.echo(model)


@command.command("key")
@click.argument("name", metavar="PROVIDER")
@JSON
def key(name: str, as_json: bool) -> None:
    """Keep a key, which is typed unseen or read from standard input.

    It goes into the system's keyring, or where there is none into a file that only you can read.
    """
    from unspool.cli.json_lines import echo
    from unspool.cli.words import say
    from unspool.jobs.providers import keep
    from unspool.sources.files import stdin_text

    typed = sys.stdin is not None and sys.stdin.isatty()
    given = click.prompt("key", hide_input=True, err=True) if typed else stdin_text()
    provider, place = keep(name, given)
    if as_json:
        echo([{"provider": provider.name, "key": place}])
    else:
        say(f"the key for {provider.title} is in {place}")
