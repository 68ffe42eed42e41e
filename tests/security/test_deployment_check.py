"""Django's own checklist for what faces the internet, as ``manage.py check --deploy`` asks it."""

from __future__ import annotations

from pathlib import Path

from tests.shortener_project.test_settings import load, run

TLS = {"BASE_URL": "https://go.example.com", "SECRET_KEY": "k3" + "abcdefghij" * 6}


def test_a_service_behind_tls_passes_without_a_word(tmp_path: Path) -> None:
    done = run(tmp_path, "manage.py", "check", "--deploy", "--fail-level", "DEBUG", **TLS)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "System check identified no issues (3 silenced).\n"


def test_nothing_is_silenced_but_what_is_tried_page_by_page(tmp_path: Path) -> None:
    """W001 to W003 look for Django's middlewares by name; test_every_page asks every page for what they would add."""
    found = load(tmp_path, "SILENCED_SYSTEM_CHECKS", "SECURE_HSTS_SECONDS", **TLS)
    assert found == {
        "SILENCED_SYSTEM_CHECKS": ["security.W001", "security.W002", "security.W003"],
        "SECURE_HSTS_SECONDS": 31_536_000,
    }


def test_a_weak_secret_is_told(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        "manage.py",
        "check",
        "--deploy",
        "--fail-level",
        "WARNING",
        **{**TLS, "SECRET_KEY": "short"},
    )
    assert done.returncode == 1
    assert "security.W009" in done.stderr
