"""The start and the end of sessions."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from accounts.models import EndReason, Session, User
from accounts.sessions.tokens import (
    ACCESS_LIFETIME,
    REFRESH_LIFETIME,
    TokenPair,
    issue_tokens,
    password_fingerprint,
)
from common.errors import ServiceError

MAX_SESSIONS = 50
# Operators can see the reason of an end for this long.
ENDED_DAYS = 7
_USER_AGENT_CHARACTERS = 200

_LOCK = "SELECT password FROM accounts_user WHERE id = %s FOR NO KEY UPDATE"
# Two conditions, each with its index. A session of a browser stays until it expires: its row is what ends the
# browser's session, too. The next run deletes sessions that a request has locked: a change of password locks
# several in its own order, and waiting for it could deadlock.
_DELETE = f"""
WITH dead AS MATERIALIZED (
    SELECT id FROM accounts_session
    WHERE expires_at < now() - make_interval(secs => %s)
       OR ended_at < now() - interval '{ENDED_DAYS} days' AND browser_session IS NULL
    FOR UPDATE SKIP LOCKED
)
DELETE FROM accounts_session s USING dead WHERE s.id = dead.id
"""  # noqa: S608 # composed of constants


class SessionEnded(ServiceError):
    status = 401
    code = "not_authenticated"
    message = "The token is not valid or has expired."


def live_sessions(user: User) -> QuerySet[Session]:
    """The sessions that have a valid token, newest first. The last access token can outlive the refresh tokens."""
    return Session.objects.filter(
        user=user,
        ended_at=None,
        expires_at__gt=Now() - ACCESS_LIFETIME,
        password_fingerprint=password_fingerprint(user),
    ).order_by("-id")


def start_session(user: User, user_agent: str = "") -> TokenPair | None:
    """Starts a session and ends the oldest above MAX_SESSIONS. Returns its tokens.

    None if the password of the account is no longer the one in ``user``: then its tokens would be invalid.
    """
    now = issue_time()
    with transaction.atomic():
        if not lock_password(user):
            return None
        session = insert_session(user, user_agent, now=now, expires_at=now + REFRESH_LIFETIME)
    return issue_tokens(user, session)


def insert_session(
    user: User,
    user_agent: str,
    *,
    now: datetime,
    expires_at: datetime,
    browser_session: str | None = None,
) -> Session:
    """Inserts a session and ends the oldest above MAX_SESSIONS. The caller has locked the account's password."""
    # With an upper bound, so that the planner reads the index of live sessions in its order.
    excess = live_sessions(user)[MAX_SESSIONS - 1 : 2 * MAX_SESSIONS].values("id")
    end(Session.objects.filter(id__in=excess), EndReason.LIMIT)
    session = Session(
        user=user,
        password_fingerprint=password_fingerprint(user),
        issued_at=now,
        user_agent=_printable(user_agent),
        browser_session=browser_session,
        expires_at=expires_at,
    )
    session.save(force_insert=True)
    return session


def issue_time() -> datetime:
    """The time by this host's clock, which also verifies the tokens. In whole seconds, as in a token."""
    return timezone.now().replace(microsecond=0)


def lock_password(user: User) -> bool:
    """Lock the account until the transaction ends, so that its password stays and no other session starts.

    Returns whether the password is still the one in ``user``.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [user.pk])
        row: tuple[str] | None = cursor.fetchone()
    return row is not None and constant_time_compare(row[0], user.password)


def end(sessions: QuerySet[Session], reason: EndReason) -> int:
    """End those of the sessions that have not ended. Every worker refuses their tokens from the commit on.

    Returns their number. Of concurrent calls for one session, one counts it.
    """
    return sessions.filter(ended_at=None).update(ended_at=Now(), end_reason=reason)


def end_session(user: User, public_id: UUID) -> bool:
    """Returns whether the account had this session."""
    return bool(end(live_sessions(user).filter(public_id=public_id).order_by(), EndReason.REVOKED))


def end_other_sessions(user: User, browser_session: str | None) -> int:
    """End all sessions of the account, of browsers and of the API, except that of this browser."""
    others = Session.objects.filter(user=user)
    if browser_session is not None:
        others = others.exclude(browser_session=browser_session)
    with transaction.atomic():
        # In the same order as every other statement that ends several sessions, to prevent deadlocks.
        lock_password(user)
        return end(others, EndReason.REVOKED)


def delete_expired_api_sessions() -> int:
    """Delete sessions without a valid token: once they have expired, or ENDED_DAYS after their end.

    Returns their number.
    """
    with connection.cursor() as cursor:
        cursor.execute(_DELETE, [ACCESS_LIFETIME.total_seconds()])
        return int(cursor.rowcount)


def _printable(user_agent: str) -> str:
    return "".join(filter(str.isprintable, user_agent))[:_USER_AGENT_CHARACTERS]
