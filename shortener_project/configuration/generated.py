"""Values that the service generates when the operator sets none."""

from __future__ import annotations

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from common.secrets import derive_key
from shortener_project.configuration import env

_MIN_SECRET_LENGTH = 32
_MIN_DIFFERENT_CHARACTERS = 8
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 # the folder's name is derived from the secret, so nobody can predict it


def installation_secret(configured: str, *, has_own_database: bool, var_dir: Path) -> str:
    """``configured``, or with the embedded database a secret stored under ``var_dir``. Raises ImproperlyConfigured."""
    if configured:
        # Anybody who has a token can try secrets without asking the service (RFC 8725, section 3.5).
        if len(configured) < _MIN_SECRET_LENGTH or len(set(configured)) < _MIN_DIFFERENT_CHARACTERS:
            raise ImproperlyConfigured(
                f"SECRET_KEY must have at least {_MIN_SECRET_LENGTH} characters, "
                f"{_MIN_DIFFERENT_CHARACTERS} of them different. This prints one: "
                "python3 -c 'import secrets; print(secrets.token_urlsafe(50))'"
            )
        return configured
    if has_own_database:
        raise ImproperlyConfigured(
            "DATABASE_URL is set, so SECRET_KEY must be set too (50 random characters, the same on every host)."
        )
    return env.secret_kept_at(var_dir / "secret_key")


def metrics_folder(configured: str, *, secret: str, var_dir: Path) -> Path:
    """``configured``, or a folder in memory: a full or busy disk must not block the processes that count."""
    if configured:
        return Path(configured)
    if not os.access(_SHARED_MEMORY, os.W_OK):
        return var_dir / "metrics"
    name = derive_key(secret, f"metrics {os.geteuid()} {var_dir}").hex()[:20]
    return Path(_SHARED_MEMORY, f"shortener-{name}")
