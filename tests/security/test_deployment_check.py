"""Django's checks for deployments: ``manage.py check --deploy``."""

from __future__ import annotations

from pathlib import Path

import pytest

from testing.settings_module import load, run

TLS = {
    "BASE_URL": "https://go.example.com",
    "SECRET_KEY": "k3" + "abcdefghij" * 6,
    "TRUSTED_PROXIES": "10.0.0.10/32",
}


@pytest.mark.slow
def test_a_service_behind_tls_passes_without_warnings(tmp_path: Path) -> None:
    done = run(tmp_path, "manage.py", "check", "--deploy", "--fail-level", "DEBUG", **TLS)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "System check identified no issues (3 silenced).\n"


def test_only_checks_replaced_by_tests_of_every_page_are_silenced(tmp_path: Path) -> None:
    """W001 to W003 look for Django's middlewares by name; test_every_page checks every page for their headers."""
    values = load(tmp_path, "SILENCED_SYSTEM_CHECKS", "SECURE_HSTS_SECONDS", **TLS)
    assert values == {
        "SILENCED_SYSTEM_CHECKS": ["security.W001", "security.W002", "security.W003"],
        "SECURE_HSTS_SECONDS": 31_536_000,
    }


@pytest.mark.slow
def test_a_short_secret_is_reported(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        "manage.py",
        "check",
        "--deploy",
        "--fail-level",
        "WARNING",
        **{**TLS, "SECRET_KEY": "shorter-than-fifty-characters-1234"},
    )
    assert done.returncode == 1
    assert "security.W009" in done.stderr
