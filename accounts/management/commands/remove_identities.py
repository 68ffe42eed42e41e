from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.identities import disconnect_all
from accounts.selectors import user_of_email
from common.changing_commands import wait_for_standby


class Command(BaseCommand):
    help = "Disconnects an account from single sign-on, and ends its sessions."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, **options: Any) -> None:
        user = user_of_email(options["email"])
        if user is None:
            raise CommandError("Unknown account.")
        wait_for_standby()
        self.stdout.write(f"Removed: {disconnect_all(user)}")
