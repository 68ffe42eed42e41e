from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.second_factor import remove_second_factors
from accounts.selectors import user_of_email
from common.changing_commands import wait_for_standby


class Command(BaseCommand):
    help = "Removes the second factors and recovery codes of an account whose owner has lost them."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, **options: Any) -> None:
        user = user_of_email(options["email"])
        if user is None:
            raise CommandError("Unknown account.")
        wait_for_standby()
        self.stdout.write(f"Removed: {remove_second_factors(user)}")
