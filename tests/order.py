"""The order in which the workers of pytest-xdist run the tests.

`--dist worksteal` gives each worker an equal number of consecutive tests, and a worker that has finished takes half of
the rest of another one, from its end. In the order of the folders, one worker would get all slow tests. Here, all
workers but one begin with slow tests, which mostly wait, and the remaining one runs quick tests meanwhile. The slow
files are dealt out longest first, so that none of them runs alone at the end. A file stays together: its tests share
services.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

# Seconds on two cores, roughly: only the order matters.
SECONDS = {
    "service/requests/test_schemathesis.py": 200,
    "bench/test_sanitized_loop.py": 180,
    "fastlane/service/test_slow_clients.py": 150,
    "deploy/test_backup.py": 110,
    "contract/naughty_strings/test_naughty_strings.py": 60,
    "service/hosts/test_outages.py": 85,
    "service/hosts/test_upgrades.py": 40,
    "service/starts/test_foreign_schemas.py": 20,
    "service/secrets/test_repeated_lines.py": 20,
    "testing/test_after_boot.py": 20,
    "dashboard/test_accessibility.py": 60,
    "dashboard/test_stored_payloads.py": 60,
    "service/processes/test_frozen_processes.py": 140,
    "fastlane/service/test_queues.py": 45,
    "service/processes/test_stopping.py": 45,
    "service/requests/test_boundaries.py": 40,
    "service/hosts/test_database_clock.py": 40,
    "service/processes/test_unwritable_journal.py": 40,
    "analytics/counting/journals/test_pipeline_faults.py": 40,
    "service/hosts/test_failover.py": 40,
    "contract/naughty_strings/test_naughty_strings_on_pages.py": 30,
    "shortener_project/embedded_postgres/test_server_account.py": 25,
    "service/starts/test_serve.py": 35,
    "service/processes/test_clicks_survive.py": 35,
    "dashboard/test_keyboard_walk.py": 30,
    "service/processes/test_all_workers.py": 30,
    "service/processes/test_reloads.py": 30,
    "service/test_metrics.py": 30,
    "service/starts/test_repeated_starts.py": 30,
    "dashboard/report/test_report.py": 25,
    "dashboard/account/test_workspaces.py": 30,
    "shortener_project/embedded_postgres/test_first_start.py": 25,
    "service/processes/test_crashes.py": 25,
    "dashboard/links/test_import_page.py": 20,
    "domains/verification/test_hostile_dns.py": 20,
    "domains/verification/test_hostile_dns_chains.py": 20,
    "security/test_admin_in_a_browser.py": 20,
    "security/test_in_a_browser.py": 15,
    "qrcodes/test_rendering.py": 25,
    "service/load/test_limits.py": 25,
    "dashboard/test_domains_page.py": 20,
    "dashboard/report/test_report_access.py": 20,
    "dashboard/links/test_editor.py": 15,
    "dashboard/links/test_links_page.py": 15,
    "deploy/test_image.py": 20,
    "dashboard/links/test_conflicts.py": 20,
    "service/test_clients.py": 20,
    "dashboard/account/test_account.py": 20,
    "shortener_project/embedded_postgres/test_crashes.py": 20,
    "dashboard/test_types.py": 20,
    "domains/test_contention.py": 20,
    "sign_in/openid_connect/test_openid_connect.py": 15,
    "service/load/test_links_in_memory.py": 20,
    "dashboard/test_states.py": 20,
    "service/starts/test_small_host.py": 20,
    "deploy/test_restore.py": 20,
    "service/secrets/test_logs.py": 15,
    "dashboard/test_first_steps.py": 15,
    "dashboard/report/test_report_live.py": 15,
}
SECONDS_OF_OTHERS = 5


def dealt_out(
    slow: list[pytest.Item], quick: list[pytest.Item], folder: Path, workers: int
) -> list[pytest.Item]:
    """All tests in the order that gives each worker its share. ``folder`` contains the files in SECONDS."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in slow:
        files.setdefault(item.path, []).append(item)

    def seconds(file: Path) -> int:
        return SECONDS.get(file.relative_to(folder).as_posix(), SECONDS_OF_OTHERS)

    queues: list[list[pytest.Item]] = [[] for _ in range(max(1, workers - 1))]
    loads = [0] * len(queues)
    for file in sorted(files, key=seconds, reverse=True):
        least = loads.index(min(loads))
        queues[least] += files[file]
        loads[least] += seconds(file)

    ordered: list[pytest.Item] = []
    rest, remaining = iter(quick), len(slow) + len(quick)
    for worker in range(workers):
        share = remaining // (workers - worker)
        remaining -= share
        own = queues[worker] if worker < len(queues) else []
        ordered += [*own, *islice(rest, max(0, share - len(own)))]
    return [*ordered, *rest]
