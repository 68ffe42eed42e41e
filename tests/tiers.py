"""The two tiers of tests: `make test` runs the quick ones, `make test-all` the slow ones, too.

A test belongs to SLOW if it starts the service or another server as real processes, kills or stops a process, sends
requests by the thousand, draws and reads pictures by the hundred, drives a browser, or waits for a timeout of the
service. Everything else is quick: it runs in the process of the tests and takes well under a second. The marker `slow`
is applied here, by folder or file, and nowhere else.

`pytest` alone runs the quick ones, `pytest --all` both; a path on the command line runs whatever is in it.
`tests/order.py` deals the slow ones out to the workers: add a file there that takes more than a quarter of a minute.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from tests.compiling import compile_share
from tests.order import SECONDS, dealt_out

TESTS = Path(__file__).parent
SLOW = (
    "analytics/journal/test_journal.py",
    "analytics/counting/journals/test_pipeline_faults.py",
    "bench/test_sanitized_loop.py",
    "contract/test_lint.py",
    "contract/naughty_strings/test_naughty_strings.py",
    "contract/naughty_strings/test_naughty_strings_on_pages.py",
    "dashboard/account/test_account.py",
    "dashboard/links/test_conflicts.py",
    "dashboard/test_domains_page.py",
    "dashboard/test_accessibility.py",
    "dashboard/links/test_editor.py",
    "dashboard/test_first_steps.py",
    "dashboard/test_front_end.py",
    "dashboard/account/test_history.py",
    "dashboard/account/test_keys.py",
    "dashboard/links/test_import_interruptions.py",
    "dashboard/links/test_import_page.py",
    "dashboard/test_keyboard_walk.py",
    "dashboard/links/test_links_page.py",
    "dashboard/report/test_report.py",
    "dashboard/report/test_report_access.py",
    "dashboard/report/test_report_live.py",
    "dashboard/report/test_report_periods.py",
    "dashboard/links/test_selected_links.py",
    "dashboard/account/test_sign_out.py",
    "dashboard/links/test_simulated_visit.py",
    "dashboard/test_states.py",
    "dashboard/test_stored_payloads.py",
    "dashboard/test_types.py",
    "dashboard/account/test_workspaces.py",
    "deploy",
    "domains/test_contention.py",
    "domains/verification/test_hostile_dns.py",
    "domains/verification/test_hostile_dns_chains.py",
    "fastlane/service",
    "qrcodes/test_rendering.py",
    "redirects/limits/test_max_clicks.py",
    "redirects/pages/test_pages_in_a_browser.py",
    "security/test_admin_in_a_browser.py",
    "security/test_in_a_browser.py",
    "service",
    "shortener_project/embedded_postgres",
    "sign_in/test_in_a_browser.py",
    "sign_in/openid_connect/test_openid_connect.py",
    "sign_in/openid_connect/test_openid_identities.py",
    "sign_in/openid_connect/test_openid_settings.py",
    "sign_in/test_sign_up_in_a_browser.py",
    "testing",
)
SLOW_PATHS = {TESTS / place for place in SLOW}
# pytest ends a slow test without a timeout of its own after this time. Quick tests have that of pyproject.toml.
SLOW_SECONDS = 900


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run the slow tests, too (see tests/tiers.py)")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: kills, floods or waits; applied by tests/tiers.py")
    # An installation without the fast lane has none of its tests.
    places = [
        place
        for place in (*SLOW, *SECONDS)
        if not place.startswith("fastlane/") or (TESTS / "fastlane").exists()
    ]
    if missing := [place for place in places if not (TESTS / place).exists()]:
        raise pytest.UsageError(
            f"SLOW in tests/tiers.py or SECONDS in tests/order.py has paths that do not exist: {', '.join(missing)}"
        )


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    config = session.config
    if not _names_paths(config):
        files = list(TESTS.rglob("test_*.py"))
        compile_share([file for file in files if not (_leaves_slow_out(config) and _is_slow(file))])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Importing the slow tests takes almost a second for each worker."""
    return True if _leaves_slow_out(config) and _is_slow(collection_path) else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if _is_slow(item.path):
            item.add_marker("slow")
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(SLOW_SECONDS))
    slow = [item for item in items if item.get_closest_marker("slow")]
    quick = [item for item in items if not item.get_closest_marker("slow")]
    items[:] = dealt_out(slow, quick, TESTS, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


@cache
def _is_slow(path: Path) -> bool:
    return not SLOW_PATHS.isdisjoint([path, *path.parents])


def _leaves_slow_out(config: pytest.Config) -> bool:
    return not (_names_paths(config) or config.option.all or config.option.markexpr)


def _names_paths(config: pytest.Config) -> bool:
    return config.args_source is pytest.Config.ArgsSource.ARGS


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if _leaves_slow_out(config):
        terminalreporter.write_line(
            "The slow tests did not run; `make test-all` runs them, too.", yellow=True
        )
