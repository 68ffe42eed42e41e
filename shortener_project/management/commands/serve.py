from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from analytics.visitors.useragent import build_rules
from common.host import metric_files, metrics, state
from local_postgres import EmbeddedPostgresError
from local_postgres.guard import guarded
from shortener_project.configuration.database import embedded_database
from shortener_project.running.listeners import Listeners, TooFewOpenFiles, raise_limit, shortage
from shortener_project.running.preloading import exit_without_metrics, freeze
from shortener_project.running.preparation import (
    DatabaseUnavailable,
    migrate_in_fork,
    prepare_database,
    welcome_message,
)
from shortener_project.running.service_processes import service_processes
from shortener_project.running.supervisor import ChildKeepsFailing, Supervisor, ignore_stray_signals

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Prepares the database, then runs the web server and the background processes until SIGTERM or Ctrl-C."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        ignore_stray_signals()
        limit = check_open_files()
        # Bind first: a port conflict fails at once.
        listeners = Listeners()
        clear_metrics()
        is_prepared = self._prepare(listeners)
        # Forks must not share a connection.
        connection.close()
        if warning := shortage(limit):
            logger.warning("%s", warning)
        self.stdout.flush()
        build_rules()
        freeze()
        try:
            with guard() as release:
                processes = service_processes(listeners, release, is_prepared=is_prepared)
                Supervisor(processes, tick=keep_database_running(), close=listeners.close).run()
        except (ChildKeepsFailing, EmbeddedPostgresError) as error:
            raise CommandError(str(error)) from None

    def _prepare(self, listeners: Listeners) -> bool:
        """Prepare the database and listen. Returns False if the database is unreachable.

        The web server then serves cached links. It must not use an unmigrated database.
        """
        try:
            owner = prepare_database(listeners.listen, partial(migrate_in_fork, listeners.drop))
        except DatabaseUnavailable as reason:
            state.set_prepared(False)
            listeners.listen()
            logger.warning(
                "Waiting for the database: %s. Until then, %s redirects only the links that this host has cached.",
                str(reason).removesuffix("."),
                settings.BASE_URL,
            )
            return False
        state.set_prepared(True)
        self.stdout.write(welcome_message(owner, is_terminal=self.stdout.isatty()))
        return True


def check_open_files() -> int:
    try:
        return raise_limit()
    except TooFewOpenFiles as error:
        raise CommandError(str(error)) from None


def clear_metrics() -> None:
    """Start all totals at zero. Call it once the sockets are bound: no other service uses the folder then."""
    try:
        if metrics.sharing_error is not None:
            raise metrics.sharing_error
        metric_files.start_afresh(settings.METRICS_DIR)
        # prometheus_client opens the new files when a value changes. A fork that takes the former number would
        # otherwise continue in the removed ones.
        metrics.count_drained(0)
    except OSError as error:
        exit_without_metrics(error)


def guard() -> AbstractContextManager[Callable[[], object]]:
    """Guards the embedded database. The block receives what each fork of this process must call."""
    if settings.EMBEDDED_DATABASE:
        return guarded(settings.VAR_DIR)
    return nullcontext(lambda: None)


def keep_database_running() -> Callable[[], None]:
    if not settings.EMBEDDED_DATABASE:
        return lambda: None
    return embedded_database().ensure_running
