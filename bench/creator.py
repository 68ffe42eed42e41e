"""A process that creates links in itself, for as many seconds as each line of its input says, and writes its rate.

Its settings come from DJANGO_SETTINGS_MODULE, its API key from BENCH_KEY.
"""

from __future__ import annotations

import os
import sys
import time

import django

from bench.client import link_body


def main() -> None:
    django.setup()
    from bench.wsgi_call import Caller  # noqa: PLC0415 # after the settings

    caller, number = Caller(os.environ["BENCH_KEY"]), os.getpid() * 1_000_000
    for line in sys.stdin:
        started, count = time.perf_counter(), 0
        while time.perf_counter() - started < float(line):
            status, body, _ = caller.post("/api/urls", link_body(number))
            if status != 201:
                sys.exit(f"{status}: {body}")
            number, count = number + 1, count + 1
        print(count / (time.perf_counter() - started), flush=True)


if __name__ == "__main__":
    main()
