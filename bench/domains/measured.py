"""Both measurements, on a service with two workers, beside a load of half of its maximum rate."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from bench.domains import stuck
from bench.harness.results import record
from bench.harness.running import installation, site_of
from bench.load import wrk
from bench.load.visits import Visits
from bench.load.wrk import LoadResult
from testing.domains.dns_server import dns_server
from testing.service.domain_deletion.customer import Customer, customer
from testing.service.domain_deletion.deletion import Outcome, deleted
from testing.service.drainer import drainer_held
from testing.service.running import Service

AROUND_SECONDS = 2.0
WARM_SECONDS = 5


def run(folder: Path, options: Namespace) -> None:
    with (
        dns_server() as resolver,
        installation(folder, WEB_CONCURRENCY="2", DNS_RESOLVERS=resolver.name) as service,
    ):
        resolver.silent = True
        api_key, database = service.owner.api_key, site_of(service).url
        to_go = customer(database, options.links)
        visits = Visits(folder / "visits", ((f"/{code}", host) for host, code in to_go.others))
        with drainer_held(service):
            wrk.load(service.port, visits, seconds=WARM_SECONDS)
            pace = wrk.load(service.port, visits, seconds=options.seconds).rate / 2
            print(f"a load of {pace:,.0f} redirects/s, half of the maximum rate")
            if options.only != "deletion":
                stuck.run(
                    service,
                    api_key,
                    database,
                    visits,
                    pace=pace,
                    seconds=options.seconds,
                    rounds=options.rounds,
                )
            if options.only != "dns":
                _delete(service, api_key, to_go, visits, pace=pace, seconds=options.seconds)


def _delete(
    service: Service, api_key: str, to_go: Customer, visits: Visits, *, pace: float, seconds: int
) -> None:
    before = wrk.load(service.port, visits, seconds=seconds, pace=pace)
    with wrk.loaded(service.port, visits, pace=pace) as during:
        outcome = deleted(service, api_key, to_go, around_seconds=AROUND_SECONDS)
    after = wrk.load(service.port, visits, seconds=seconds, pace=pace)
    _print(to_go, outcome, [before, *during, after])


def _print(to_go: Customer, outcome: Outcome, loads: list[LoadResult]) -> None:
    print(f"\ndeleting a domain with {to_go.links:,} links took {outcome.seconds:.1f} s: {outcome.message}")
    for name, load in zip(("before", "during", "after"), loads, strict=True):
        print(
            f"  links elsewhere {name:12} {load.rate:8,.0f}/s; p50 {load.p50:.2f}, p99 {load.p99:.2f} ms;"
            f" refused {load.refused}, broken {load.broken}"
        )
    phases = {phase: dict(statuses) for phase, statuses in outcome.going.items()}
    print(
        f"  {outcome.responses:,} of these responses checked; statuses of the domain's links by phase: {phases}"
    )
    expected = to_go.destinations_after_deletion()
    problems = [
        *outcome.failures,
        *(f"{load.errors} errors of the load" for load in loads if load.errors),
        *outcome.lost,
        *([] if phases["before"].keys() == {302} else ["the domain did not redirect before the deletion"]),
        *([] if phases["during"].keys() <= {302, 404} else ["the domain returned errors"]),
        *([] if phases["after"].keys() == {404} else ["the domain redirects after the deletion"]),
        *([] if f" {to_go.dropped} custom codes were" in outcome.message else ["the wrong number of codes"]),
    ]
    print(f"  all {len(expected):,} codes followed on the default domain: {len(outcome.lost)} wrong")
    for problem in problems[:20]:
        print(f"  VIOLATION: {problem}")
    print(f"  no other visitor was affected and no link was lost: {'NO' if problems else 'yes'}", flush=True)
    before, during, _ = loads
    record(
        "domains-deletion",
        f"{outcome.seconds:.1f} s for {to_go.links:,} links beside {during.rate:,.0f} redirects/s; {len(problems)}"
        f" problems; p99 of other links {before.p99:.0f} ms before, {during.p99:.0f} ms meanwhile",
    )
