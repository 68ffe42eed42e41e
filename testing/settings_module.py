"""Loads the settings in a process of their own."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.core.exceptions import ImproperlyConfigured

from testing.polling import DEADLINE

PROJECT = Path(__file__).resolve().parents[1]
POSTGRES = "postgres://user:pass@db.example:5433/links"
SECRET = "only-for-these-tests-" + "x" * 30
READ_BY_SETTINGS = {
    *("DATABASE_URL", "SECRET_KEY", "SECRET_KEY_FALLBACKS", "BASE_URL", "PORT", "VAR_DIR", "TRUSTED_PROXIES"),
    *("LOG_FORMAT", "LOG_LEVEL", "CORS_ALLOWED_ORIGINS", "ACCESS_TOKEN_MINUTES", "REFRESH_TOKEN_DAYS"),
    *(
        "STATEMENT_TIMEOUT_MS",
        "IDLE_TRANSACTION_TIMEOUT_MS",
        "LOCK_TIMEOUT_MS",
        "GEOIP_DATABASE",
        "GEODATA_URL",
    ),
    *("LOG_ADDRESSES", "METRICS_ALLOWED_NETWORKS", "PROMETHEUS_MULTIPROC_DIR"),
}
SETTINGS = PROJECT / "shortener_project" / "settings.py"


def environment(var: Path, **variables: str) -> dict[str, str]:
    others = {name: value for name, value in os.environ.items() if name not in READ_BY_SETTINGS}
    return {**others, "VAR_DIR": str(var), **variables}


def settings_of(var: Path, **variables: str) -> dict[str, object]:
    """Runs the module again with these environment variables, as a new process would. Raises ImproperlyConfigured."""
    with patch.dict(os.environ, environment(var, **variables), clear=True):
        return runpy.run_path(str(SETTINGS))


def load(var: Path, *names: str, **variables: str) -> dict[str, Any]:
    """Settings as JSON values."""
    values = settings_of(var, **variables)
    text = json.dumps({name: values[name] for name in names}, default=_text)
    return json.loads(text)


def _text(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else str(value)


def refusal(var: Path, **variables: str) -> str:
    """The one-line error of a failed start."""
    with pytest.raises(ImproperlyConfigured) as refused:
        settings_of(var, **variables)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def run(var: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=PROJECT,
        env=environment(var, **variables),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
