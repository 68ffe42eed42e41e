"""The program `shorten`: its commands, and what `shorten https://…` means."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from . import __version__, account, apply, links, qr, tail, transfer
from .exits import exit_code_of

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`shorten https://example.com/` creates a link. Exit codes and the configuration are in the README.",
)
COMMANDS: dict[str, Callable[..., None]] = {
    "login": account.login,
    "logout": account.logout,
    "config": account.config,
    "new": links.new,
    "ls": links.ls,
    "get": links.get,
    "set": links.set_,
    "rm": links.rm,
    "stats": links.stats,
    "why": links.why,
    "qr": qr.qr,
    "import": transfer.import_,
    "export": transfer.export,
    "tail": tail.tail,
    "apply": apply.apply,
}
for name, command in COMMANDS.items():
    app.command(name)(command)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"shorten {__version__}\n")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Short links in a terminal."""


def run() -> None:
    # A URL in place of a command is a new link.
    if len(sys.argv) > 1 and "://" in sys.argv[1] and not sys.argv[1].startswith("-"):
        sys.argv.insert(1, "new")
    sys.exit(exit_code_of(app))
