"""Rotation of refresh tokens: each works once. A second use ends the session, because one of the users is a thief.

A client whose first response was lost sends its token again. Within `GRACE` it gets the same tokens, not new ones,
so that a session never has two valid refresh tokens.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.utils.crypto import constant_time_compare

from accounts.history import record_change
from accounts.models import EndReason, Session, User
from accounts.second_factor import lacks_second_factor
from accounts.sessions.lifecycle import end, issue_time
from accounts.sessions.tokens import Claims, TokenPair, issue_tokens, password_fingerprint, read_refresh_token
from common.database import read_first

log = logging.getLogger(__name__)

GRACE = timedelta(seconds=10)


def rotate_tokens(refresh_token: str) -> TokenPair | None:
    """The session's next tokens. None if the token is not valid, or was used before: then the session ends.

    None also while the account lacks a second factor that it needs: REQUIRE_2FA may be newer than the session.
    """
    claims = read_refresh_token(refresh_token)
    session = None if claims is None else _session_of(claims)
    if claims is None or session is None or lacks_second_factor(session.user):
        return None
    issued_at = _advance(session, claims) or _last_advanced(session, claims)
    if issued_at is not None:
        session.generation, session.issued_at = claims.generation + 1, issued_at
        return issue_tokens(session.user, session)
    if _end_reused(session, claims):
        _report_reuse(session)
    return None


def _session_of(claims: Claims) -> Session | None:
    """The session, with its account, unless the session has ended or the token is from before a change of password.

    Sessions of browsers have no refresh tokens.
    """
    sessions = Session.objects.select_related("user").filter(
        public_id=claims.session,
        browser_session=None,
        ended_at=None,
        user__public_id=claims.account,
        user__is_active=True,
    )
    session = read_first(sessions.first)
    return session if session is not None and _has_password(session.user, claims) else None


def _has_password(user: User, claims: Claims) -> bool:
    return constant_time_compare(claims.password_fingerprint, password_fingerprint(user))


def _end_reused(session: Session, claims: Claims) -> bool:
    with transaction.atomic():
        if not end(_unchanged(session, claims), EndReason.REUSE):
            return False
        record_change(
            owner_id=session.user_id,
            object_id=session.public_id,
            action="session.ended",
            after={"endReason": EndReason.REUSE},
        )
    return True


def _advance(session: Session, claims: Claims) -> datetime | None:
    """Use the token. Returns the issue time of the next tokens, or None if the token was used before.

    The lock of the row lets one of several concurrent calls through.
    """
    now = issue_time()
    current = _unchanged(session, claims).filter(generation=claims.generation)
    changes = {
        "generation": F("generation") + 1,
        "issued_at": now,
        "rotated_at": Now(),
        "last_used_at": Now(),
    }
    return now if current.update(**changes) else None


def _last_advanced(session: Session, claims: Claims) -> datetime | None:
    """The issue time of the next tokens if the last use of a token was of this one, within GRACE."""
    next_one = _unchanged(session, claims).filter(generation=claims.generation + 1)
    return next_one.filter(rotated_at__gt=Now() - GRACE).values_list("issued_at", flat=True).first()


def _unchanged(session: Session, claims: Claims) -> QuerySet[Session]:
    """The session, unless it ended or its password changed since it was read."""
    return Session.objects.filter(
        pk=session.pk, ended_at=None, password_fingerprint=claims.password_fingerprint
    )


def _report_reuse(session: Session) -> None:
    """Tell the operator. The row of the session records the time and the reason."""
    log.warning(
        "A refresh token was used twice, so it may have been stolen. Its session was ended.",
        extra={"fields": {"account": str(session.user.public_id), "session": str(session.public_id)}},
    )
