"""How long each process of the service may show no sign of life."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django.fixtures import Settings

from common.host import vitals
from shortener_project.running.service_processes import service_processes


@pytest.mark.parametrize(
    ("silence", "statement", "allowed"),
    [
        (60, None, {"web server": 60, "listener": 120, "click drainer": 120, "housekeeping": 660}),
        (60, "5000", {"web server": 60, "listener": 65, "click drainer": 65, "housekeeping": 65}),
        (60, "0", {"web server": 60, "listener": None, "click drainer": None, "housekeeping": None}),
        (5, None, {"web server": 5, "listener": 65, "click drainer": 65, "housekeeping": 605}),
    ],
)
def test_a_process_may_be_silent_for_as_long_as_a_statement_and_the_setting(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    silence: int,
    statement: str | None,
    allowed: dict[str, float | None],
) -> None:
    settings.SILENCE_SECONDS = silence
    monkeypatch.delenv("STATEMENT_TIMEOUT_MS", raising=False)
    if statement is not None:
        monkeypatch.setenv("STATEMENT_TIMEOUT_MS", statement)
    monkeypatch.setattr(vitals, "_of_all", {})
    # Not used before a process starts.
    listeners: Any = None
    children = service_processes(listeners, lambda: None, is_prepared=False)

    # Migrations take as long as they take.
    assert {child.name: child.silence_allowed for child in children} == {
        "preparation of the database": None,
        **dict.fromkeys(
            ("re-check of domains", "check of destinations", "delivery of events"), allowed["listener"]
        ),
        **allowed,
    }
