#!/usr/bin/env python
"""Django's command line. Starts the embedded database for commands that need a database."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress

from django.conf import settings
from django.core.management import execute_from_command_line
from django.core.management.base import CommandError, CommandParser, handle_default_options

import shortener_project
from shortener_project.configuration.database import embedded_database, set_command_timeouts
from shortener_project.running.commands import end_on_sigterm, reported_errors
from shortener_project.running.preloading import import_apps, preloading

WITHOUT_DATABASE = {
    *("check", "collectstatic", "diffsettings", "findstatic", "help", "spectacular", "update_geodata"),
}


def database(arguments: list[str]) -> AbstractContextManager[object]:
    needs_none = not arguments or arguments[0] in WITHOUT_DATABASE or {"-h", "--help"} & set(arguments)
    if needs_none or not settings.EMBEDDED_DATABASE:
        return nullcontext()
    return embedded_database().acquire()


def imports(arguments: list[str]) -> AbstractContextManager[Callable[[], object]]:
    if arguments[:1] == ["serve"] and not {"-h", "--help"} & set(arguments):
        return preloading()
    # runserver reports an error in an app, and tries again after the next change of a file.
    if arguments[:1] == ["runserver"]:
        return nullcontext(lambda: None)
    return nullcontext(import_apps)


def apply_default_options(arguments: list[str]) -> None:
    """Apply --settings and --pythonpath before anything reads a setting. Django applies them too late."""
    parser = CommandParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--settings")
    parser.add_argument("--pythonpath")
    # Django reports a missing value.
    with suppress(CommandError):
        handle_default_options(parser.parse_known_args(arguments)[0])


def main() -> None:
    # Django would print its own version.
    if sys.argv[1:] in (["version"], ["--version"]):
        print(shortener_project.__version__)
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shortener_project.settings")
    apply_default_options(sys.argv[2:])
    set_command_timeouts(sys.argv[1] if len(sys.argv) > 1 else "")
    # SIGTERM raises an exception, so that the last command that uses the database stops it on exit.
    end_on_sigterm()
    with reported_errors(), imports(sys.argv[1:]) as wait_for_imports, database(sys.argv[1:]):
        wait_for_imports()
        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
