from __future__ import annotations

import logging
from argparse import ArgumentParser
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import Error, connection

from accounts.api_requests.idempotency import delete_expired_responses
from accounts.history import delete_old_changes, trim_large_histories
from accounts.request_log.store import delete_old_requests
from accounts.sessions.lifecycle import delete_expired_api_sessions
from accounts.sessions.store import delete_expired_sessions
from analytics.counting.closed_days import close_days, report_date
from analytics.counting.day_visitors import delete_old_visitors
from analytics.counting.retention import (
    delete_clicks_of_deleted_links,
    delete_finished_segments,
    delete_former_routes,
    delete_old_clicks,
    ensure_partitions,
)
from analytics.counting.summed_links import begin_rollups
from analytics.counting.unknown_codes import delete_old_codes
from analytics.report_mails.due import send_due_reports
from analytics.shares.services import delete_dead_shares
from common.changing_commands import wait_for_standby
from common.database import TOLERATED_SECONDS, seconds_ahead
from common.host import vitals
from common.host.metrics import count_database_error
from events.retention import delete_old_events, ensure_event_partitions
from limits.attempts import delete_expired_attempts
from limits.guessing import delete_expired_networks
from limits.rates import delete_expired_requests
from links.code_claims import delete_expired_holds
from links.health.checks import end_all_checks
from links.health.hosts import forget_hosts
from links.storage.deletion import purge_deleted_links
from links.tags.changes import finish_tag_changes

logger = logging.getLogger(__name__)

PERIOD_SECONDS = 600
CLOCK_SECONDS = 60


class Command(BaseCommand):
    help = "Deletes expired data, closes finished days and sends reports by mail. Runs until stopped."

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="run once and exit (for cron)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["once"]:
            wait_for_standby()
        while True:
            report_clock()
            failure = run_all_steps()
            if options["once"]:
                if failure is not None:
                    raise failure
                return
            for _ in range(PERIOD_SECONDS // CLOCK_SECONDS):
                # The next step is a minute away: release the connection.
                connection.close()
                vitals.sleep(CLOCK_SECONDS)
                report_clock()
                # Somebody may be waiting for these.
                run((finish_tag_changes,))
                if failure is not None:
                    break


def run_all_steps() -> Error | None:
    """Run every step, and return the last failure. All of them use the database's clock."""
    steps = (
        finish_tag_changes,
        delete_expired_holds,
        end_all_checks,
        forget_hosts,
        delete_expired_attempts,
        delete_expired_networks,
        delete_expired_requests,
        delete_expired_responses,
        delete_expired_sessions,
        delete_expired_api_sessions,
        partial(delete_old_changes, settings.HISTORY_DAYS),
        partial(trim_large_histories, settings.HISTORY_MB),
        delete_old_requests,
        ensure_partitions,
        ensure_event_partitions,
        delete_old_events,
        close_days,
        begin_rollups,
        delete_old_visitors,
        delete_old_codes,
        delete_dead_shares,
        partial(delete_old_clicks, settings.CLICK_RETENTION_DAYS),
        partial(delete_former_routes, settings.CLICK_RETENTION_DAYS),
        purge_deleted_links,
        delete_clicks_of_deleted_links,
        delete_finished_segments,
        # Last: a mail server may be slow.
        send_due_reports,
    )
    return run(steps)


def run(steps: Iterable[Callable[[], object]]) -> Error | None:
    """Run every step even if another fails, and return the last failure."""
    failure = None
    for step in steps:
        try:
            step()
        except Error as error:
            count_database_error("background")
            logger.warning("Housekeeping is waiting for the database: %s", error)
            failure = error
            # A connection that timed out is closed. The next step needs a new one.
            connection.close_if_unusable_or_obsolete()
    return failure


def report_clock() -> None:
    """Log a wrong clock, and tell the other hosts the date."""
    try:
        ahead = seconds_ahead()
        report_date()
    except Error:
        return
    if abs(ahead) > TOLERATED_SECONDS:
        logger.error(
            "This host's clock is %.0f s %s the database's. Set it; clicks are dated within the database's bounds.",
            abs(ahead),
            "ahead of" if ahead > 0 else "behind",
        )
