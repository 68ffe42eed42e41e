#!/usr/bin/env python
"""Django's command line, with the embedded database running behind every command that needs one."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, nullcontext

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import OperationalError, ProgrammingError

from shortener_project.embedded_postgres import EmbeddedPostgres, EmbeddedPostgresError
from shortener_project.termination import end_on_sigterm

WITHOUT_DATABASE = {"help", "version", "check", "spectacular", "collectstatic", "update_geodata"}


def database(arguments: list[str]) -> AbstractContextManager[object]:
    if not settings.EMBEDDED_DATABASE or not arguments or arguments[0] in WITHOUT_DATABASE:
        return nullcontext()
    return EmbeddedPostgres(settings.VAR_DIR).acquire()


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shortener_project.settings")
    # As an exception, so that the database of the last command to use it is stopped on the way out.
    end_on_sigterm()
    try:
        with database(sys.argv[1:]):
            execute_from_command_line(sys.argv)
    except (ImproperlyConfigured, EmbeddedPostgresError) as error:
        sys.exit(f"error: {error}")
    except (OperationalError, ProgrammingError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        sys.exit(f"error: The database cannot be used: {reason} (manage.py serve, or migrate, prepares it.)")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
