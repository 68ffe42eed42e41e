"""python -m bench.logins [--tries N]: whether the response time of a failed login reveals which accounts exist.

Alternates between the e-mail address of an account and unknown addresses, on one connection to a service with one API
worker, as a stranger would time them.
"""

from __future__ import annotations

import argparse
import statistics
import time
from contextlib import closing

import psycopg

from bench.harness.results import record
from bench.harness.running import installation
from bench.harness.stack import service_folder
from local_postgres import EmbeddedPostgres
from testing.service.running import Connection


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=400, help="of both kinds together")
    options = parser.parse_args()
    with (
        service_folder() as folder,
        installation(folder) as service,
        psycopg.connect(EmbeddedPostgres(service.var_dir).url, autocommit=True) as database,
        closing(Connection(service.port)) as stranger,
    ):

        def refused(email: str) -> float:
            """Milliseconds."""
            # Otherwise the limit would reject the eleventh attempt before any hashing.
            database.execute("DELETE FROM limits_attemptlog")
            started = time.perf_counter()
            response = stranger.call("POST", "/api/auth/login", {"email": email, "password": "wrong"})
            elapsed = time.perf_counter() - started
            assert response.status == 401, response
            return elapsed * 1000

        refused("nobody@example.com")
        times: dict[str, list[float]] = {"known": [], "unknown": []}
        for number in range(options.tries // 2):
            pair = {"known": service.owner.email, "unknown": f"nobody{number:03}@example.com"}
            # Each kind goes first equally often.
            for name in sorted(pair, reverse=bool(number % 2)):
                times[name].append(refused(pair[name]))
    known, unknown = (statistics.median(times[name]) for name in ("known", "unknown"))
    difference = abs(known - unknown) / known
    print(
        f"{options.tries} refused logins, medians: {known:.2f} ms with the address of an account, {unknown:.2f} ms "
        f"with an unknown one, a difference of {difference:.1%}"
    )
    record("limits-logins", f"{difference:.1%} of {known:.0f} ms (medians of {options.tries} attempts)")


if __name__ == "__main__":
    main()
