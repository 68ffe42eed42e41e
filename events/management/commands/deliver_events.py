from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from common.changing_commands import wait_for_standby
from events.webhooks.deliverer import run


class Command(BaseCommand):
    help = "Send events to the webhooks of workspaces. Runs until stopped."

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="send what is due and exit (for cron)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["once"]:
            wait_for_standby()
        run(once=options["once"])
