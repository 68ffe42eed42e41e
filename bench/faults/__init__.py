"""The faults of `bench.prove_faults`, by name."""

from __future__ import annotations

from collections.abc import Callable

from bench.faults import data, failover, frozen, journal, outage, process, provider
from bench.faults.result import Result

FAULTS: dict[str, Callable[[], Result]] = {
    "database-flaps": outage.database_flaps,
    "workers-die-without-database": outage.workers_die,
    "reload-without-database": outage.reload,
    "restart-without-database": outage.restart,
    "standby-takes-over": failover.standby_takes_over,
    "standby-lost": failover.standby_lost,
    "split-brain": failover.split_brain,
    "database-full": outage.database_full,
    "drainer-frozen": frozen.drainer_frozen,
    "children-frozen": frozen.children_frozen,
    "child-dies-in-a-loop": frozen.child_dies_in_a_loop,
    "database-restored": data.database_restored,
    "clock-ahead": data.clock_ahead,
    "partition-locked": data.partition_locked,
    "journal-read-only": journal.journal_read_only,
    "journal-full": journal.journal_full,
    "bits-flipped": journal.bits_flipped,
    "database-clock-ahead": journal.database_clock_ahead,
    "identity-provider-drips": provider.identity_provider_drips,
    "few-open-files": process.few_open_files,
    "signals-without-meaning": process.signals_without_meaning,
}
