"""python -m bench.links: lists of a million links, and the rate of creating them."""

from __future__ import annotations

import argparse
import os

import django

from bench.stack import database


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=200, help="for each kind of list")
    parser.add_argument("--only", choices=["list", "create"])
    parser.add_argument("--shape", default="", help="only lists whose name holds this")
    given = parser.parse_args()
    with database(str(given.links)):
        os.environ["DJANGO_SETTINGS_MODULE"] = "shortener_project.settings"
        django.setup()
        # After the settings are known, which name the database.
        from django.db import connection  # noqa: PLC0415

        from bench import create, lists, load  # noqa: PLC0415

        owners = load.load(given.links)
        load.print_sizes()
        try:
            if given.only != "create":
                lists.run(owners, given.links, given.requests, given.shape)
            if given.only != "list":
                create.run(owners["creator"])
        finally:
            connection.close()


if __name__ == "__main__":
    main()
