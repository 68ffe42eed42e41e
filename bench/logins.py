"""python -m bench.logins [--tries N]: whether the time of a refusal tells which e-mail addresses have an account.

Tries with the address of an account and with addresses of nobody, alternating, on one connection to a service with one
worker for the API, as a stranger would time them.
"""

from __future__ import annotations

import argparse
import statistics
import time
from contextlib import closing

import psycopg

from bench.stack import home


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=400, help="of both kinds together")
    given = parser.parse_args()
    with home() as folder:
        # They read the settings.
        from bench.running import installation  # noqa: PLC0415
        from shortener_project.embedded_postgres import EmbeddedPostgres  # noqa: PLC0415
        from tests.service.running import Connection  # noqa: PLC0415

        with (
            installation(folder) as service,
            psycopg.connect(EmbeddedPostgres(service.var_dir).url, autocommit=True) as database,
            closing(Connection(service.port)) as stranger,
        ):

            def refused(email: str) -> float:
                """Milliseconds."""
                # Or the limits would answer after the tenth.
                database.execute("DELETE FROM accounts_attemptlog")
                started = time.perf_counter()
                answer = stranger.ask("POST", "/api/auth/login", {"email": email, "password": "wrong"})
                passed = time.perf_counter() - started
                assert answer.status == 401, answer
                return passed * 1000

            refused("nobody@example.com")
            times: dict[str, list[float]] = {"known": [], "unknown": []}
            for number in range(given.tries // 2):
                pair = {"known": service.owner.email, "unknown": f"nobody{number:03}@example.com"}
                # Each goes first as often as the other.
                for name in sorted(pair, reverse=bool(number % 2)):
                    times[name].append(refused(pair[name]))
    known, unknown = (statistics.median(times[name]) for name in ("known", "unknown"))
    print(
        f"{given.tries} refused logins, medians: {known:.2f} ms with the address of an account, {unknown:.2f} ms with "
        f"that of nobody, a difference of {abs(known - unknown) / known:.1%}"
    )


if __name__ == "__main__":
    main()
