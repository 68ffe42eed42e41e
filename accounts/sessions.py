"""The admin's sessions (``SESSION_ENGINE``): what the database knows of one does not open it."""

from __future__ import annotations

import hashlib
from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.base_session import AbstractBaseSession
from django.utils import timezone


class SessionStore(db.SessionStore):
    """Django's, under a digest of the cookie in place of the cookie: who reads a backup gets into no session.

    The key is random (165 bits), so that there is nothing to guess and the digest can be an index. Only what runs
    without asyncio is changed, which is all that this service runs.
    """

    def _get_session_from_db(self) -> AbstractBaseSession | None:
        found = self.model.objects.filter(
            session_key=_digest(self.session_key or ""), expire_date__gt=timezone.now()
        ).first()
        if found is None:
            self._session_key = None
        return found

    def exists(self, session_key: str) -> bool:
        return super().exists(_digest(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        session = super().create_model_instance(data)
        session.session_key = _digest(session.session_key)
        return session

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key is not None:
            super().delete(_digest(key))


def _digest(key: str) -> str:
    """As long as the column is."""
    return hashlib.sha256(key.encode()).hexdigest()[:40]
