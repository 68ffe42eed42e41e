"""Runs a command of manage.py, in its own process or in a fork of `serve`.

SIGTERM raises an exception, so that a command releases its resources on the way out.
"""

from __future__ import annotations

import atexit
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType, TracebackType

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError
from django.db import OperationalError, ProgrammingError, connection, connections

from common.host import vitals
from common.host.processes import rename
from local_postgres import EmbeddedPostgresError
from shortener_project.configuration.database import configured_database, set_command_timeouts

# Seconds until the next attempt if the exception could not propagate.
_RETRY_SECONDS = 0.01


def end_on_sigterm() -> None:
    """Make SIGTERM raise SystemExit in the main thread. Call it in the main thread.

    In finalizers and weak reference callbacks (for example during imports), the interpreter cannot propagate an
    exception: it reports the exception and continues. A SIGALRM then raises it again shortly afterwards. While a class
    is created, Python 3.11 turns it into a RuntimeError. Both apply to the KeyboardInterrupt of a SIGINT, too.
    """
    sys.unraisablehook = _raise_again
    sys.excepthook = _unwrap
    # Runs last, before the interpreter removes its signal handlers and SIGALRM would kill the process.
    atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, _end)


def reset_hooks() -> None:
    """Restore Python's hooks in a fork without these signal handlers."""
    sys.unraisablehook = sys.__unraisablehook__
    sys.excepthook = sys.__excepthook__


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + signal.SIGTERM)


def _unwrap(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if isinstance(error.__cause__, SystemExit):
        raise error.__cause__
    if isinstance(error.__cause__, KeyboardInterrupt):
        sys.exit(128 + signal.SIGINT)
    sys.__excepthook__(kind, error, trace)


def _raise_again(ignored: sys.UnraisableHookArgs) -> None:
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and ignored.exc_type in (SystemExit, KeyboardInterrupt):
        # `serve` may have replaced the handler.
        signal.signal(signal.SIGALRM, _end if ignored.exc_type is SystemExit else signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, _RETRY_SECONDS)
    else:
        sys.__unraisablehook__(ignored)


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
