"""python -m bench.links: latency of lists over a million links."""

from __future__ import annotations

import argparse
import os

import django
from django.db import connection

from bench.harness.stack import database


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=200, help="for each kind of list")
    parser.add_argument("--shape", default="", help="only lists whose name contains this")
    options = parser.parse_args()
    with database(str(options.links)):
        os.environ["DJANGO_SETTINGS_MODULE"] = "shortener_project.settings"
        django.setup()

        from bench.links import lists
        from bench.load import busy_accounts

        owners = busy_accounts.load(options.links)
        busy_accounts.print_sizes()
        try:
            lists.run(owners, options.links, options.requests, options.shape)
        finally:
            connection.close()


if __name__ == "__main__":
    main()
