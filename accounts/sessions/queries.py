"""Reads of sessions."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.crypto import constant_time_compare

from accounts.callers import MEMBERSHIP, Caller, personal_workspace, read_membership
from accounts.models import Session, User
from accounts.rights import Role
from accounts.sessions.tokens import ACCESS_LIFETIME, Claims, password_fingerprint, read_access_token
from common.database import prepared_cursor, read_first
from common.ids import parse_public_id

# `last_used_at` is exact to this number of seconds, so that a busy session causes one write a minute.
USE_SECONDS = 60

_FIELDS = [field.attname for field in User._meta.concrete_fields]
# One statement authenticates and records the use. The conditions of the UPDATE repeat under the row's lock, so that of
# concurrent requests one writes. Its commit waits neither for the disk nor for a synchronous standby: an operating
# system crash may lose a time of use, and a lost standby must not delay reads. `true` limits this to the transaction,
# which is this statement. The time to compare the digests reveals nothing: the token's is signed.
_ACCOUNT = f"""
WITH account AS (
    SELECT s.id AS session_id, {", ".join(f"u.{name}" for name in _FIELDS)}
    FROM accounts_session s JOIN accounts_user u ON u.id = s.user_id
    WHERE s.public_id = %(session)s AND s.ended_at IS NULL AND u.public_id = %(account)s AND u.is_active
      AND upper(md5(u.password)) = %(fingerprint)s
), used AS (
    UPDATE accounts_session s SET last_used_at = statement_timestamp() FROM account
    WHERE s.id = account.session_id AND s.ended_at IS NULL
      AND s.last_used_at < statement_timestamp() - interval '{USE_SECONDS} s'
    RETURNING set_config('synchronous_commit', 'off', true)
)
"""  # noqa: S608 # composed of constants
_AUTHENTICATE = f"{_ACCOUNT} SELECT account.* FROM account"  # noqa: S608 # composed of constants
_AUTHENTICATE_IN_WORKSPACE = f"""
{_ACCOUNT}, workspace AS ({MEMBERSHIP}) SELECT account.*, workspace.* FROM account LEFT JOIN workspace ON true
"""  # noqa: S608 # composed of constants


def caller_of_access_token(raw: str, workspace: str | None = None) -> Caller | None:
    """Queried for every request, so a token of an ended session is invalid everywhere at once.

    ``workspace`` is the id that the request names, in any form. Without it, the account acts in its personal one.

    Call it outside transactions: the commit of a surrounding one would not be durable.
    """
    claims = read_access_token(raw)
    if claims is None:
        return None
    values: dict[str, UUID | str | None] = {
        "session": claims.session,
        "account": claims.account,
        "fingerprint": claims.password_fingerprint,
    }
    if workspace is not None:
        values["workspace"] = parse_public_id(workspace)

    def read() -> tuple[Any, ...] | None:
        with prepared_cursor() as cursor:
            cursor.execute(_AUTHENTICATE if workspace is None else _AUTHENTICATE_IN_WORKSPACE, values)
            row: tuple[Any, ...] | None = cursor.fetchone()
            return row

    row = read_first(read)
    if row is None:
        return None
    session, *fields = row
    account: User = User.from_db(DEFAULT_DB_ALIAS, _FIELDS, fields[: len(_FIELDS)])
    if workspace is None:
        return Caller(account, personal_workspace(account), Role.OWNER, session=session)
    return Caller(account, *read_membership(account, fields[len(_FIELDS) :]), session=session)


def session_of_refresh_token(claims: Claims) -> Session | None:
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


def live_sessions(user: User) -> QuerySet[Session]:
    """The sessions that have a valid token, newest first. The last access token can outlive the refresh tokens."""
    return Session.objects.filter(
        user=user,
        ended_at=None,
        expires_at__gt=Now() - ACCESS_LIFETIME,
        password_fingerprint=password_fingerprint(user),
    ).order_by("-id")


def _has_password(user: User, claims: Claims) -> bool:
    return constant_time_compare(claims.password_fingerprint, password_fingerprint(user))
