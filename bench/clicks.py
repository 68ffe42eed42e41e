"""python -m bench.clicks drain|capture|reports|visible: what it costs to record, to count and to report clicks."""

from __future__ import annotations

import argparse
import importlib
import os

import django

from bench.stack import database


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["drain", "capture", "reports", "visible"])
    parser.add_argument("--clicks", type=int, help="as many as this")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with database(f"clicks_{given.what}"):
        os.environ["DJANGO_SETTINGS_MODULE"] = "shortener_project.settings"
        django.setup()
        # After the settings are known, which name the database.
        from django.core.management import call_command  # noqa: PLC0415
        from django.db import connection  # noqa: PLC0415

        call_command("migrate", verbosity=0)
        bench = importlib.import_module(f"bench.{given.what}")
        try:
            bench.run(given.clicks or bench.CLICKS, given.rounds)
        finally:
            connection.close()


if __name__ == "__main__":
    main()
