from __future__ import annotations

from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured


def database_settings(url: str, *, statement_timeout: int) -> dict[str, Any]:
    """Milliseconds; 0: none."""
    try:
        database: dict[str, Any] = {**dj_database_url.parse(url, conn_max_age=None)}
    except (dj_database_url.UnknownSchemeError, dj_database_url.ParseError, ValueError):
        raise ImproperlyConfigured(
            "DATABASE_URL must look like postgres://user:password@host:5432/name."
        ) from None
    if database["ENGINE"] != "django.db.backends.postgresql":
        raise ImproperlyConfigured("DATABASE_URL must name a PostgreSQL database: postgres://…")
    options = database["OPTIONS"] = {"connect_timeout": 2, **database.get("OPTIONS", {})}
    if statement_timeout:
        # Compiling a query costs more than any of a request's takes.
        options["options"] = (
            f"{options.get('options', '')} -c statement_timeout={statement_timeout} -c jit=off".lstrip()
        )
    return database
