from __future__ import annotations

import os
import socket
import sys
from contextlib import nullcontext
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import Error, connection

from accounts.models import User
from accounts.plans import Plan
from accounts.services import NewAccount, create_account
from common import metric_files
from shortener_project.embedded_postgres import EmbeddedPostgres, EmbeddedPostgresError
from shortener_project.embedded_postgres.guard import guarded
from shortener_project.supervisor import CannotGoOn, Child, Supervisor

MINIMUM_POSTGRESQL = 15
OWNER_EMAIL = "owner@localhost"
# Any number that nobody else locks: two hosts of one database prepare it one after the other.
PREPARATION_LOCK = 7_346_190_215
BACKGROUND = 10


class Command(BaseCommand):
    help = "Prepares the database, then runs the web server and the background processes until it is told to stop."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        # Taken first and kept: a taken port is told at once, and a restarting gunicorn refuses nobody.
        listener = bind()
        owner = prepare_database(then_listen_on=listener)
        connection.close()
        self.stdout.write(welcome(owner))
        self.stdout.flush()
        # Open until now for a gunicorn that restarts; when all stops, who comes must be refused, not kept waiting.
        supervisor = Supervisor(children(listener), tick=keep_database_running(), close=listener.close)
        prepare_metrics()
        try:
            with guarded(settings.VAR_DIR) if settings.EMBEDDED_DATABASE else nullcontext():
                supervisor.run()
        except (CannotGoOn, EmbeddedPostgresError) as error:
            raise CommandError(str(error)) from None
        finally:
            metric_files.remove(settings.METRICS_DIR)


def bind() -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.HOST else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.HOST, settings.PORT))
    except OSError as error:
        raise cannot_listen(error) from None
    return listener


def cannot_listen(error: OSError) -> CommandError:
    return CommandError(f"Cannot listen on {settings.HOST}:{settings.PORT}: {error.strerror}.")


def prepare_database(then_listen_on: socket.socket) -> NewAccount | None:
    """Migrates, and makes the first account of an empty database. Raises CommandError in one line."""
    # Django itself would take older ones.
    connection.features.minimum_database_version = (MINIMUM_POSTGRESQL,)
    try:
        with connection.cursor() as cursor:
            # Requests are bounded; migrations of large tables take their time.
            cursor.execute("SET statement_timeout = 0")
            cursor.execute("SELECT pg_advisory_lock(%s)", [PREPARATION_LOCK])
            call_command("migrate", interactive=False, verbosity=0)
            try:
                # Two services that start at once can bind one port, but only one can listen. Found out before an
                # owner is made, or its secrets might be known to the one alone that ends.
                then_listen_on.listen(2048)
            except OSError as error:
                raise cannot_listen(error) from None
            empty = not User.objects.exists()
            owner = create_account(email=OWNER_EMAIL, plan=Plan.ENTERPRISE, superuser=True) if empty else None
            cursor.execute("SELECT pg_advisory_unlock(%s)", [PREPARATION_LOCK])
            return owner
    except Error as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise CommandError(f"The database cannot be used: {reason}") from None


def prepare_metrics() -> None:
    try:
        metric_files.prepare(settings.METRICS_DIR)
    except OSError as error:
        raise CommandError(f"Metrics cannot be kept: {error}") from None
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(settings.METRICS_DIR)


def children(listener: socket.socket) -> list[Child]:
    listener.set_inheritable(True)
    os.environ["SERVE_BIND"] = f"fd://{listener.fileno()}"
    manage = [sys.executable, str(settings.PROJECT_DIR / "manage.py")]
    config = str(settings.PROJECT_DIR / "shortener_project" / "gunicorn_conf.py")
    web = [sys.executable, "-m", "gunicorn", "--config", config, "shortener_project.wsgi"]
    return [
        Child("web server", web, failures_allowed=4, reloads=True, pass_fds=(listener.fileno(),)),
        Child("listener", [*manage, "follow_changes"]),
        # What they do can wait for those who wait for an answer; the journal holds what is yet to be counted.
        Child("click drainer", [*manage, "drain_clicks"], niceness=BACKGROUND),
        Child("housekeeping", [*manage, "housekeeping"], niceness=BACKGROUND),
        Child("re-check of domains", [*manage, "recheck_domains"], niceness=BACKGROUND),
    ]


def keep_database_running() -> Any:
    if not settings.EMBEDDED_DATABASE:
        return lambda: None
    return EmbeddedPostgres(settings.VAR_DIR).ensure_running


def welcome(owner: NewAccount | None) -> str:
    lines = ["", f"Serving {settings.BASE_URL} (on {settings.HOST}:{settings.PORT})", ""]
    key = '"$API_KEY"'
    if owner is not None:
        key = owner.api_key
        lines += [
            "The owner's account, shown this once:",
            f"  e-mail    {owner.user.email}",
            f"  password  {owner.password}",
            f"  API key   {owner.api_key}",
            "",
        ]
    else:
        lines += [
            "API_KEY is the key you were shown at the first start, or a new one of manage.py create_account.",
            "",
        ]
    return "\n".join(
        [
            *lines,
            "Create a link:",
            f"  curl {settings.BASE_URL}/api/urls -H 'Content-Type: application/json' -H X-API-Key:{key}"
            """ -d '{"originalUrl": "https://example.com/"}'""",
            "",
            f"API documentation  {settings.BASE_URL}/api/docs",
            f"Administration     {settings.BASE_URL}/admin/",
            "Ctrl-C stops everything.",
            "",
        ]
    )
