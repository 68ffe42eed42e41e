from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.rights import Plan
from accounts.services import create_account
from common.changing_commands import wait_for_standby
from common.errors import ServiceError


class Command(BaseCommand):
    help = "Creates an account and prints its API key as the last word of the last line."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--plan", choices=Plan.values, default=Plan.FREE)
        parser.add_argument(
            "--password",
            help="generated and printed if omitted; - reads a line of standard input, which other users cannot see",
        )
        parser.add_argument("--first-name", default="")
        parser.add_argument("--last-name", default="")
        parser.add_argument("--superuser", action="store_true", help="allow the account to use the admin")

    def handle(self, *args: Any, **options: Any) -> None:
        password: str | None = options["password"]
        if password == "-":  # noqa: S105 # no password
            password = sys.stdin.readline().removesuffix("\n")
        elif password is not None:
            self.stderr.write(
                "Other users and the shell's history may have the password. --password - reads standard input."
            )
        wait_for_standby()
        try:
            account = create_account(
                email=options["email"],
                password=password,
                plan=options["plan"],
                superuser=options["superuser"],
                first_name=options["first_name"],
                last_name=options["last_name"],
                any_address=True,
            )
        except ServiceError as error:
            raise CommandError(error.message) from None
        self.stdout.write(f"E-mail:   {account.user.email}")
        if password is None:
            self.stdout.write(f"Password: {account.password}")
        self.stdout.write(f"API key:  {account.api_key}")
