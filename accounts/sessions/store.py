"""The sessions of pages (``SESSION_ENGINE``). The database stores a digest of the cookie, and the sealed content."""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends import db
from django.contrib.sessions.base_session import AbstractBaseSession
from django.contrib.sessions.models import Session as StoredSession
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, Subquery
from django.db.models.functions import Now
from django.utils import timezone

from accounts.callers import USE_SECONDS
from accounts.models import EndReason
from accounts.models import Session as ApiSession
from accounts.sessions.lifecycle import end, record_use
from common import secrets

_PURPOSE = "session-sealing"


class SessionStore(db.SessionStore):
    """Django's session store, keyed by a digest of the cookie: a leaked backup contains no usable session.

    The content is sealed, because it contains the secrets of second factors while they are set up, and the keys of
    links to new passwords while they are used.

    A browser that signed in also has a row in accounts_session, which names its row here: see
    `accounts.sessions.lifecycle`. Transactions that change both lock this one first.

    The key has 165 random bits, so an unsalted digest is safe, and the database can index it. Overrides only the
    synchronous methods, because the service does not use asyncio.
    """

    # Of a session that was read from the database, if it is registered.
    _last_used_at: datetime | None = None
    _ends_at: datetime | None = None

    def encode(self, session_dict: dict[str, Any]) -> str:
        content = self.serializer().dumps(session_dict)
        sealed = secrets.seal(content, purpose=_PURPOSE, context=b"", secret=settings.SECRET_KEY)
        return b64encode(sealed).decode()

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """Empty if none of the installation's secrets opens the content: the user has to log in again."""
        keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
        try:
            sealed = b64decode(session_data, validate=True)
        except ValueError:
            return {}
        content = secrets.unseal(sealed, purpose=_PURPOSE, context=b"", secrets=keys)
        return {} if content is None else self.serializer().loads(content)

    def _get_session_from_db(self) -> AbstractBaseSession | None:
        """The row. None also if another browser or the API ended the session, or a login lasts no longer."""
        registered = ApiSession.objects.filter(browser_session=OuterRef("session_key"))
        lifetime = timedelta(days=settings.BROWSER_SESSION_DAYS)
        session = (
            self.model.objects.filter(
                session_key=_digest(self.session_key or ""), expire_date__gt=timezone.now()
            )
            .exclude(
                Exists(registered.filter(Q(ended_at__isnull=False) | Q(created_at__lte=Now() - lifetime)))
            )
            .annotate(
                last_used_at=Subquery(registered.values("last_used_at")),
                logged_in_at=Subquery(registered.values("created_at")),
            )
            .first()
        )
        if session is None:
            self._session_key = None
        else:
            self._last_used_at = session.last_used_at
            self._ends_at = session.logged_in_at and session.logged_in_at + lifetime
        return session

    def get_expiry_date(self, **kwargs: Any) -> datetime:
        """Each change extends the session, but not beyond its absolute end."""
        expiry = super().get_expiry_date(**kwargs)
        return expiry if self._ends_at is None else min(expiry, self._ends_at)

    def record_use(self) -> None:
        """Record the time of use for the account's list of sessions, at most once a minute."""
        last, key = self._last_used_at, self.stored_key
        if last is not None and key is not None and timezone.now() - last > timedelta(seconds=USE_SECONDS):
            record_use(key)

    def exists(self, session_key: str) -> bool:
        return super().exists(_digest(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        session = super().create_model_instance(data)
        session.session_key = _digest(session.session_key)
        return session

    def save(self, must_create: bool = False) -> None:
        """A change may extend the session, so the row that can end it must exist for as long."""
        with transaction.atomic():
            super().save(must_create)
            if SESSION_KEY in self:
                registered = ApiSession.objects.filter(browser_session=self.stored_key)
                registered.update(expires_at=self.get_expiry_date())

    def flush(self) -> None:
        super().flush()
        self._ends_at = None

    def cycle_key(self) -> None:
        """Give the browser a new cookie. It remains one entry in the account's list of sessions."""
        content, former = dict(self.items()), self.session_key
        with transaction.atomic():
            self.create()
            self._session_cache = content
            if former is not None:
                super().delete(_digest(former))
                registered = ApiSession.objects.filter(browser_session=_digest(former))
                registered.update(browser_session=self.stored_key)

    def delete(self, session_key: str | None = None) -> None:
        """Delete the session, end the registered one, and with it the browser's access tokens."""
        key = session_key or self.session_key
        if key is None:
            return
        with transaction.atomic():
            super().delete(_digest(key))
            end(ApiSession.objects.filter(browser_session=_digest(key)), EndReason.LOGOUT)

    @property
    def stored_key(self) -> str | None:
        """The primary key of the session's row."""
        return None if self.session_key is None else _digest(self.session_key)


def delete_expired_sessions() -> int:
    """Deletes sessions that have expired by the database's clock. Returns their number."""
    deleted, _ = StoredSession.objects.filter(expire_date__lt=Now()).delete()
    return deleted


def _digest(key: str) -> str:
    """A digest as long as the column."""
    return hashlib.sha256(key.encode()).hexdigest()[:40]
