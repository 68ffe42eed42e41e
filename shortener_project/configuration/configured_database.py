"""The database settings of this process, from its environment."""

from __future__ import annotations

from typing import Any

from shortener_project.configuration import variables
from shortener_project.configuration.django_settings.database import database_settings
from shortener_project.configuration.embedded_database import embedded_database


def configured_database() -> dict[str, Any]:
    """Raises ImproperlyConfigured."""
    return database_settings(
        variables.DATABASE_URL.read() or embedded_database().url,
        statement_timeout=variables.STATEMENT_TIMEOUT_MS.read(),
        idle_transaction_timeout=variables.IDLE_TRANSACTION_TIMEOUT_MS.read(),
        lock_timeout=variables.LOCK_TIMEOUT_MS.read(),
    )
