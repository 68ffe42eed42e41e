"""Both, on a service with two workers, beside a load of half of what it can answer."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from bench import wrk
from bench.domains import stuck
from bench.domains.customer import Customer, customer
from bench.domains.deletion import Outcome, deleted
from bench.running import drainer_held, installation, site_of
from bench.visits import Visits
from bench.wrk import Answered
from tests.domains.dns_server import dns_server
from tests.service.running import Service

AROUND_SECONDS = 2.0
WARM_SECONDS = 5


def run(home: Path, given: Namespace) -> None:
    with (
        dns_server() as resolver,
        installation(home, WEB_CONCURRENCY="2", DNS_RESOLVERS=resolver.name) as service,
    ):
        resolver.silent = True
        api_key, database = service.owner.api_key, site_of(service).url
        to_go = customer(database, given.links)
        visits = Visits(home / "visits", ((f"/{code}", host) for host, code in to_go.others))
        with drainer_held(service):
            wrk.load(service.port, visits, seconds=WARM_SECONDS)
            pace = wrk.load(service.port, visits, seconds=given.seconds).rate / 2
            print(f"a load of {pace:,.0f} redirects a second, half of what is possible")
            if given.only != "deletion":
                stuck.run(
                    service, api_key, database, visits, pace=pace, seconds=given.seconds, rounds=given.rounds
                )
            if given.only != "dns":
                _delete(service, api_key, to_go, visits, pace=pace, seconds=given.seconds)


def _delete(
    service: Service, api_key: str, to_go: Customer, visits: Visits, *, pace: float, seconds: int
) -> None:
    before = wrk.load(service.port, visits, seconds=seconds, pace=pace)
    with wrk.loaded(service.port, visits, pace=pace) as during:
        outcome = deleted(service, api_key, to_go, around_seconds=AROUND_SECONDS)
    after = wrk.load(service.port, visits, seconds=seconds, pace=pace)
    _print(to_go, outcome, [before, *during, after])


def _print(to_go: Customer, outcome: Outcome, loads: list[Answered]) -> None:
    print(f"\na domain with {to_go.links:,} links is deleted in {outcome.seconds:.1f} s: {outcome.message}")
    for name, load in zip(("before", "while it is", "after"), loads, strict=True):
        print(
            f"  links elsewhere {name:12} {load.rate:8,.0f}/s; p50 {load.p50:.2f}, p99 {load.p99:.2f} ms;"
            f" refused {load.refused}, broken {load.broken}"
        )
    going = {when: dict(statuses) for when, statuses in outcome.going.items()}
    print(
        f"  {outcome.answered:,} of those answers looked at; links of the domain, before, during and after: {going}"
    )
    problems = [
        *outcome.failures,
        *(f"{load.errors} errors of the load" for load in loads if load.errors),
        *outcome.lost,
        *([] if going["before"].keys() == {302} else ["the domain did not answer before"]),
        *([] if going["during"].keys() <= {302, 404} else ["the domain answered with errors"]),
        *([] if going["after"].keys() == {404} else ["the domain answers after it is gone"]),
        *([] if f" {to_go.dropped} custom codes were" in outcome.message else ["the wrong number of codes"]),
    ]
    print(
        f"  all {len(to_go.at_home()):,} codes followed on the default domain afterwards: {len(outcome.lost)} wrong"
    )
    for problem in problems[:20]:
        print(f"  VIOLATION: {problem}")
    print(f"  nobody else noticed, and no link was lost: {'NO' if problems else 'yes'}", flush=True)
