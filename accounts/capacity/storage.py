"""Stored bytes of a workspace, and the limits of the plans, which triggers of `links` and `qrcodes` compare."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import connection

from accounts.models import Workspace

MEGABYTE = 1_000_000

_STORED = "SELECT accounts_stored_bytes(ARRAY[%s]::bigint[])"
_DELETE_LIMITS = "DELETE FROM accounts_storagelimit WHERE plan <> ALL (%(plans)s)"
_WRITE_LIMITS = """
INSERT INTO accounts_storagelimit AS l (plan, bytes) SELECT * FROM unnest(%(plans)s::text[], %(limits)s::bigint[])
ON CONFLICT (plan) DO UPDATE SET bytes = EXCLUDED.bytes WHERE l.bytes <> EXCLUDED.bytes
"""


def stored_bytes(workspace: Workspace) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_STORED, [workspace.pk])
        [(stored,)] = cursor.fetchall()
    return int(stored)


def storage_limit(plan: str) -> int:
    """In bytes; 0: no limit."""
    return int(settings.STORAGE_LIMITS[plan]) * MEGABYTE


def write_storage_limits() -> None:
    """Tell the triggers the limits of the settings."""
    limits = {plan: limit for plan in settings.STORAGE_LIMITS if (limit := storage_limit(plan))}
    values: dict[str, Any] = {"plans": list(limits), "limits": list(limits.values())}
    with connection.cursor() as cursor:
        cursor.execute(_DELETE_LIMITS, values)
        cursor.execute(_WRITE_LIMITS, values)
