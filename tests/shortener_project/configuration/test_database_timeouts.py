"""The default database timeouts of the commands."""

from __future__ import annotations

import os

import pytest

from shortener_project.configuration.database import set_command_timeouts

NAMES = ("IDLE_TRANSACTION_TIMEOUT_MS", "LOCK_TIMEOUT_MS", "STATEMENT_TIMEOUT_MS")


@pytest.mark.parametrize(
    ("command", "idle", "lock", "statement"),
    [
        ("drain_clicks", "10000", "2000", "60000"),
        ("follow_changes", "10000", "2000", "60000"),
        ("recheck_domains", "10000", "2000", "60000"),
        ("check_destinations", "10000", "2000", "60000"),
        ("deliver_events", "10000", "2000", "60000"),
        ("housekeeping", "10000", "2000", "600000"),
        ("gunicorn", "10000", "0", "2000"),
        ("import_links", "10000", "10000", None),
        ("create_account", "10000", "10000", None),
        ("audit_counters", "10000", "10000", None),
        ("serve", None, None, None),
        ("prepare_database", None, None, None),
        ("migrate", None, None, None),
    ],
)
def test_defaults_of_each_command(
    command: str, idle: str | None, lock: str | None, statement: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        # Restore the variable after the test, also if it is not set now.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)

    set_command_timeouts(command)

    assert tuple(os.environ.get(name) for name in NAMES) == (idle, lock, statement)


def test_the_operator_can_override_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.setenv(name, "7")

    set_command_timeouts("housekeeping")

    assert [os.environ[name] for name in NAMES] == ["7", "7", "7"]
