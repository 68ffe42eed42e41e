"""Preparation of the database for `manage.py serve`: migrations and the first account.

Migrations run in a fork: Django makes models of the tables many times, and their memory ends with the fork.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import Error, connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo, PGconn, Ping

from accounts.caps import write_storage_limits
from accounts.models import User
from accounts.rights import Plan
from accounts.services import NewAccount, create_account
from analytics.visitors.useragent import build_rules
from common.database import is_outage
from common.host.processes import rename
from events.clock import align_positions
from shortener_project.operator_groups import write_operator_groups
from shortener_project.running.schema import is_incomplete, refuse_foreign_migrations
from shortener_project.running.supervisor import Child

logger = logging.getLogger(__name__)

MINIMUM_POSTGRESQL = 15
OWNER_EMAIL = "owner@localhost"
# An arbitrary advisory lock id. Two hosts that share a database prepare it one after the other.
PREPARATION_LOCK = 7_346_190_215
# Between two attempts to get the lock.
_TURN_SECONDS = 0.2
# Of the fork. The database rolls back what an interrupted one leaves.
_STOP_SECONDS = 5.0
# Every parameter that libpq knows; the others are psycopg's.
_CONNINFO = frozenset(option.keyword.decode() for option in Conninfo.get_defaults())


class DatabaseUnavailable(Exception):
    """No writable server is reachable now. The message is a one-line reason."""


def prepare_database(
    before_first_account: Callable[[], None] = lambda: None, run_migrations: Callable[[], None] | None = None
) -> NewAccount | None:
    """Create or migrate the tables, and create the first account in an empty database.

    Calls ``before_first_account`` when the tables are complete, while it holds the preparation lock. If migrations are
    due, first calls ``run_migrations``, without lock and connection: what it leaves undone is done here. Raises
    CommandError with a one-line message, or DatabaseUnavailable.
    """
    if run_migrations is not None:
        with _turn():
            if not _is_migration_due():
                return _finish(before_first_account)
        connection.close()
        run_migrations()
    with _turn():
        _migrate()
        return _finish(before_first_account)


def migrate() -> None:
    """Run the migrations in another process than `prepare_database`, before it. Raises the same errors."""
    with _turn():
        _migrate()


def _migrate() -> None:
    if _is_migration_due():
        with connection.cursor() as cursor:
            # A hundred commits would each wait for the disk. A server that crashes loses the last migrations, each as
            # a whole, and the next start runs them again.
            cursor.execute("SET synchronous_commit = off")
            call_command("migrate", interactive=False, verbosity=0)
            cursor.execute("RESET synchronous_commit")


def _is_migration_due() -> bool:
    refuse_foreign_migrations()
    return is_incomplete()


def _finish(before: Callable[[], None]) -> NewAccount | None:
    write_storage_limits()
    write_operator_groups()
    align_positions()
    # Two services that start at the same time can bind the same port, but only one can listen. Fail before creating
    # the owner: otherwise the service that exits could be the only one that knows the secrets.
    before()
    return None if User.objects.exists() else create_owner()


@contextmanager
def _turn() -> Iterator[None]:
    """Let no other process prepare this database meanwhile. Raises the errors of `prepare_database`."""
    # Only requests wait until the database is prepared, and have a time limit at the client.
    connection.settings_dict.pop("RESPONSE_SECONDS", None)
    # Django itself supports older versions.
    connection.features.minimum_database_version = (MINIMUM_POSTGRESQL,)
    try:
        with connection.cursor() as cursor:
            # Request timeouts do not apply here: migrations of large tables take long.
            cursor.execute("SET statement_timeout = 0")
            cursor.execute("SET lock_timeout = 0")
            _take_turn(cursor)
            yield
            cursor.execute("SELECT pg_advisory_unlock(%s)", [PREPARATION_LOCK])
    except Error as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if is_outage(error) and _is_unavailable():
            connection.close()
            raise DatabaseUnavailable(reason) from None
        raise CommandError(f"The database cannot be used: {reason}") from None


def _take_turn(cursor: CursorWrapper) -> None:
    """Poll for the preparation lock, without a statement that waits.

    A waiting statement keeps its snapshot, and CREATE INDEX CONCURRENTLY on another host would wait for that.
    """
    while True:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [PREPARATION_LOCK])
        [(is_locked,)] = cursor.fetchall()
        if is_locked:
            return
        time.sleep(_TURN_SECONDS)


def _is_unavailable() -> bool:
    """Whether waiting can help. It cannot if a writable server is up but rejects this account."""
    parameters = connection_parameters()
    if PGconn.ping(make_conninfo(**parameters).encode()) in (Ping.REJECT, Ping.NO_RESPONSE):
        return True
    try:
        # Only a standby is up, or the server has recovered meanwhile.
        psycopg.connect(**parameters).close()
    except psycopg.Error:
        return False
    return True


def connection_parameters() -> dict[str, Any]:
    """Return libpq's parameters of Django's connection."""
    return {name: value for name, value in connection.get_connection_params().items() if name in _CONNINFO}


def create_owner() -> NewAccount:
    """Creates both the account and the file with its secrets, or neither. Raises CommandError."""
    try:
        with transaction.atomic():
            owner = create_account(email=OWNER_EMAIL, plan=Plan.ENTERPRISE, superuser=True)
            save_first_account(owner, settings.FIRST_ACCOUNT_FILE)
            return owner
    except OSError as error:
        raise CommandError(f"The first account's secrets cannot be saved: {error}") from None


def first_account_lines(owner: NewAccount) -> list[str]:
    """The secrets of the first account: for a terminal and its file. Never log them."""
    return [
        f"  e-mail    {owner.user.email}",
        f"  password  {owner.password}",
        f"  API key   {owner.api_key}",
    ]


def save_first_account(owner: NewAccount, path: Path) -> None:
    """Write the file atomically, with mode 0600. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # mkstemp uses mode 0600 regardless of the umask.
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write("\n".join([*first_account_lines(owner), ""]))
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink()
        raise


def welcome_message(owner: NewAccount | None, *, is_terminal: bool) -> str:
    """The start message. It contains secrets only on a terminal: any other output may be a shared log."""
    lines = [
        "",
        f"Serving {settings.BASE_URL} (on {settings.LISTEN})",
        "",
        f"Dashboard          {settings.BASE_URL}{settings.LOGIN_REDIRECT_URL}",
        f"API documentation  {settings.BASE_URL}/api/docs",
        f"Administration     {settings.BASE_URL}/admin/",
        "",
    ]
    key = '"$API_KEY"'
    if owner is None:
        lines += [
            "API_KEY is the key of your account, which the dashboard shows. More accounts: manage.py create_account",
            "",
        ]
        if settings.FIRST_ACCOUNT_FILE.exists():
            lines += [
                f"{settings.FIRST_ACCOUNT_FILE} still has the password and the API key of the first account. "
                "Keep them elsewhere, and delete the file.",
                "",
            ]
    elif is_terminal:
        key = owner.api_key
        lines += [
            f"The first account, also in {settings.FIRST_ACCOUNT_FILE}:",
            *first_account_lines(owner),
            "",
        ]
    else:
        lines += [
            f"The password and the API key of the first account are in {settings.FIRST_ACCOUNT_FILE}.",
            "",
        ]
    return "\n".join(
        [
            *lines,
            "Create a link:",
            f"  curl {settings.BASE_URL}/api/urls -H 'Content-Type: application/json' -H X-API-Key:{key}"
            """ -d '{"originalUrl": "https://example.com/"}'""",
            "",
            "Everything is ready. Ctrl-C stops everything.",
            "",
        ]
    )


def migrate_in_fork(release: Callable[[], object]) -> None:
    """Logs a warning if the fork fails, and returns: `prepare_database` repeats its work, and reports the reason.

    ``release``: closes in the fork what only the caller may keep open. Call this in the main thread, while no other
    thread runs and no database connection is open.
    """
    child = Child("migration of the database", partial(_migrate_quietly, release), once=True)
    try:
        child.start()
        # Needed later anyway, and this process has nothing else to do.
        build_rules()
        failure = child.wait()
    except OSError as error:
        failure = error.strerror or str(error)
    finally:
        # A signal may have raised an exception, even while the fork was starting.
        child.send_signal(signal.SIGTERM)
        child.stop(time.monotonic() + _STOP_SECONDS)
    if failure:
        logger.warning(
            "The %s failed in a process of its own: %s. Repeating it in this one.", child.name, failure
        )


def _migrate_quietly(release: Callable[[], object]) -> None:
    rename("migrate")
    release()
    # Otherwise each collection would traverse, and copy, what this process shares with the supervisor.
    gc.freeze()
    # The models of former states live until the end: looking for garbage among them takes a tenth of the time.
    gc.set_threshold(20_000)
    try:
        migrate()
    except Exception:
        # The caller meets it again. One report is enough.
        sys.exit(1)
