"""Runs a command of manage.py, in its own process or in a fork of `serve`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError
from django.db import OperationalError, ProgrammingError, connection, connections

from common.host import vitals
from common.host.process_names import rename
from local_postgres import EmbeddedPostgresError
from shortener_project.configuration.database import configured_database, set_command_timeouts
from shortener_project.running.termination import end_on_sigterm


@contextmanager
def reported_errors() -> Iterator[None]:
    """Turn the expected errors of a command into one line and an exit status."""
    try:
        yield
    except (ImproperlyConfigured, EmbeddedPostgresError) as error:
        sys.exit(f"error: {error}")
    except (OperationalError, ProgrammingError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        sys.exit(f"error: The database cannot be used: {reason} (manage.py serve, or migrate, prepares it.)")
    except KeyboardInterrupt:
        sys.exit(130)


def run_in_fork(module: str) -> None:
    """Run the command of this module without options, as a process of its own. Raises SystemExit if it fails.

    Django's own start of a command would write to 3 MB of the memory that the fork shares.
    """
    become(command_of(module))
    end_on_sigterm()
    connection.execute_wrappers.append(vitals.beat_around)
    with reported_errors():
        try:
            import_module(module).Command().handle(once=False)
        except CommandError as error:
            sys.exit(f"CommandError: {error}")
        finally:
            connections.close_all()


def command_of(module: str) -> str:
    return module.rpartition(".")[2]


def become(command: str) -> None:
    """Give this fork the name and the database timeouts of a command. No database connection may be open."""
    rename(command)
    set_command_timeouts(command)
    # In place: Django's connections refer to this dictionary.
    settings.DATABASES["default"].update(configured_database())
