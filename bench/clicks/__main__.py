"""python -m bench.clicks [capture|drain|reports|visible]: the cost of recording, counting and reporting clicks."""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys

import django
from django.core.management import call_command
from django.db import connection

from bench.harness.stack import PROJECT_DIR, database

PARTS = ("capture", "drain", "reports", "visible")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=PARTS, help="all of them if omitted")
    parser.add_argument("--clicks", type=int, help="number of clicks; each part has a default of its own")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.what is None:
        # Each part needs a process of its own, because Django's settings name its database.
        for part in PARTS:
            command = [sys.executable, "-m", "bench.clicks", part, *sys.argv[1:]]
            subprocess.run(command, cwd=PROJECT_DIR, check=True)
        return
    with database(f"clicks_{arguments.what}"):
        os.environ["DJANGO_SETTINGS_MODULE"] = "shortener_project.settings"
        django.setup()

        call_command("migrate", verbosity=0)
        bench = importlib.import_module(f"bench.clicks.{arguments.what}")
        try:
            bench.run(arguments.clicks or bench.CLICKS, arguments.rounds)
        finally:
            connection.close()


if __name__ == "__main__":
    main()
