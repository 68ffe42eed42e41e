"""Who sends an API request: the authentication methods, by which ``request.auth`` is a `Caller`.

Both name ``Bearer`` in ``WWW-Authenticate``; without it DRF returns 403. One statement for each kind of credential
finds the account, its workspace and its role. It also counts the request of a key, and records the use of a session
and of a key with scopes.

Trades clarity for speed: finding a key takes 144 us, and took 608 with the ORM.
docs/adr/0008-cost-of-an-api-request.md says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts import api_keys
from accounts.callers import (
    CHARGED_OWNER,
    COLUMNS,
    HIGHEST_COUNT,
    MEMBERSHIP,
    USE_SECONDS,
    Caller,
    personal_workspace,
    read_membership,
)
from accounts.models import User
from accounts.rights import (
    KEY_PREFIXES,
    SCOPED_KEY_PREFIX,
    CallerKey,
    Role,
    plans_without_request_limit,
)
from accounts.sessions.tokens import read_access_token
from accounts.token_issuers.tokens import Refused, accept_token
from common import instances
from common.database import prepared_cursor, read_first, require_confirmed, text_array
from common.http.current_request import AuthMethod
from common.ids import parse_public_id
from common.rest.envelope import WWW_AUTHENTICATE, KeyExpired, TokenRefused
from limits.rates import Count, counting

# The header that names the workspace in which the request acts.
_WORKSPACE = "HTTP_X_WORKSPACE"


class ApiKeyAuthentication(BaseAuthentication):
    """``X-API-Key: <key>``, or ``Authorization: Bearer <key>`` from clients that can send nothing else, for servers.

    Never in a query string, which would end up in logs.
    Also counts the request for the limit of the workspace. `RequestThrottle` compares.
    """

    via = AuthMethod.API_KEY

    def authenticate(self, request: Request) -> tuple[User | None, Caller] | None:
        key = request.META.get("HTTP_X_API_KEY")
        if key is None:
            scheme, key = _authorization(request)
            if scheme != "bearer" or not key.startswith(KEY_PREFIXES):
                return None
        elif key.startswith(_TOKEN_PREFIX):
            raise AuthenticationFailed(_MISPLACED_TOKEN)
        find = caller_of_scoped_key if key.startswith(SCOPED_KEY_PREFIX) else caller_of_api_key
        caller = find(key, request.META.get(_WORKSPACE))
        if caller is None:
            raise AuthenticationFailed("The API key is not valid.")
        require_confirmed()
        return caller.account, caller

    def authenticate_header(self, request: Request) -> str:
        return WWW_AUTHENTICATE


# Of the JSON object with which a token begins (RFC 7515).
_TOKEN_PREFIX = "eyJ"  # noqa: S105 # no token
# Neither a response nor the log may contain the credential.
_MISPLACED_TOKEN = "This is a token, not an API key. Send it as Authorization: Bearer."  # noqa: S105 # no token
_MISPLACED_KEY = "Send an API key in the X-API-Key header, or as Authorization: Bearer."
_NO_KEY = "This endpoint takes a Bearer token from POST /api/auth/login, not an API key."


class BearerAuthentication(BaseAuthentication):
    """``Authorization: Bearer <token>``, for browser front ends (RFC 6750; the scheme's case does not matter).

    The token may be one of an issuer that a workspace names, which acts as a key. ``is_only_method``: the endpoint
    takes no key. A caller with a valid key gets a message that says so.
    """

    via = AuthMethod.TOKEN

    def __init__(self, *, is_only_method: bool = False) -> None:
        self._is_only_method = is_only_method

    def authenticate(self, request: Request) -> tuple[User | None, Caller] | None:
        scheme, token = _authorization(request)
        if scheme.startswith(KEY_PREFIXES) or token.startswith(KEY_PREFIXES):
            raise AuthenticationFailed(_NO_KEY if self._is_only_method else _MISPLACED_KEY)
        if scheme == "bearer":
            workspace = request.META.get(_WORKSPACE)
            caller = caller_of_access_token(token, workspace)
            if caller is None and not self._is_only_method:
                caller = caller_of_issued_token(token, workspace)
            if caller is None:
                raise AuthenticationFailed("The token is not valid or has expired.")
            require_confirmed()
            return caller.account, caller
        key = request.META.get("HTTP_X_API_KEY")
        if self._is_only_method and key is not None and _is_valid(key):
            raise AuthenticationFailed(_NO_KEY)
        return None

    def authenticate_header(self, request: Request) -> str:
        return WWW_AUTHENTICATE


def _authorization(request: Request) -> tuple[str, str]:
    """The scheme in lower case and the credential; empty without the header."""
    scheme, _, credential = request.META.get("HTTP_AUTHORIZATION", "").strip().partition(" ")
    return scheme.lower(), credential.strip()


def _is_valid(key: str) -> bool:
    return is_scoped_key(key) if key.startswith(SCOPED_KEY_PREFIX) else user_of_api_key(key) is not None


_FIELDS = [field.attname for field in User._meta.concrete_fields]
_USER_OF_KEY = f"""
SELECT {", ".join(f"u.{name}" for name in _FIELDS)}
FROM accounts_apikey k JOIN accounts_user u ON u.id = k.user_id WHERE k.digest = %(digest)s AND u.is_active
"""  # noqa: S608 # composed of constants
# Saves half of the processor time of reading a link and a third of creating one, compared with a query of the account
# through the ORM and a statement that counts. The subjects are those of `Caller.subjects`.
_CALLER_OF_KEY = f"""
WITH account AS ({_USER_OF_KEY}), count AS (
    {counting("SELECT int8send(id) FROM account WHERE plan <> ALL (%(unlimited)s::text[])")}
)
SELECT account.*, requests, reset FROM account LEFT JOIN count ON true
"""  # noqa: S608 # composed of constants
_COUNTED_OF_KEY = f"""
SELECT int8send(coalesce(w.id, a.id)) FROM account a LEFT JOIN workspace w ON true
WHERE coalesce(w.plan, a.plan) <> ALL (%(unlimited)s::text[])
UNION ALL {CHARGED_OWNER.format(workspace="id", source="workspace", plan="plan", account="account_id")}
"""  # noqa: S608 # composed of constants
_CALLER_IN_WORKSPACE = f"""
WITH account AS ({_USER_OF_KEY}), workspace AS ({MEMBERSHIP}), count AS ({counting(_COUNTED_OF_KEY)})
SELECT a.*, w.*, requests, reset
FROM account a LEFT JOIN workspace w ON true LEFT JOIN {HIGHEST_COUNT} highest ON true
"""  # noqa: S608 # composed of constants


def caller_of_api_key(key: str, workspace: str | None = None) -> Caller | None:
    """The active account of a key, whose request is counted in the same statement.

    ``workspace`` is the id that the request names, in any form. Without it, the account acts in its personal one.

    The database confirms the key with every request, so a revoked key is invalid everywhere at once. The statement may
    be repeated after a lost connection: the request then counts twice.
    """
    unlimited = text_array(plans_without_request_limit())
    if workspace is None:
        row = api_keys.read_row(_CALLER_OF_KEY, key, unlimited=unlimited)
    else:
        named = parse_public_id(workspace)
        row = api_keys.read_row(_CALLER_IN_WORKSPACE, key, unlimited=unlimited, workspace=named)
    if row is None:
        return None
    *fields, requests, reset = row
    counted = None if requests is None else Count(requests, reset)
    account = _user(fields[: len(_FIELDS)])
    if workspace is None:
        return Caller(account, personal_workspace(account), Role.OWNER, counted)
    return Caller(account, *read_membership(account, fields[len(_FIELDS) :]), counted)


def user_of_api_key(key: str) -> User | None:
    """The active account of a key, without counting a request."""
    row = api_keys.read_row(_USER_OF_KEY, key)
    return None if row is None else _user(row)


def _user(fields: Sequence[Any]) -> User:
    return instances.saved(User, dict(zip(_FIELDS, fields, strict=True)))


# One statement authenticates and records the use. The conditions of the UPDATE repeat under the row's lock, so that of
# concurrent requests one writes. Its commit waits neither for the disk nor for a synchronous standby: an operating
# system crash may lose a time of use, and a lost standby must not delay reads. `true` limits this to the transaction,
# which is this statement. The time to compare the digests reveals nothing: the token's is signed. The statement saves
# half of the processor time of reading, changing or creating a link, compared with the ORM.
_ACCOUNT_OF_TOKEN = f"""
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
_CALLER_OF_TOKEN = f"{_ACCOUNT_OF_TOKEN} SELECT account.* FROM account"  # noqa: S608 # composed of constants
_CALLER_OF_TOKEN_IN_WORKSPACE = f"""
{_ACCOUNT_OF_TOKEN}, workspace AS ({MEMBERSHIP}) SELECT account.*, workspace.* FROM account LEFT JOIN workspace ON true
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
        with prepared_cursor(may_lose=True) as cursor:
            cursor.execute(_CALLER_OF_TOKEN if workspace is None else _CALLER_OF_TOKEN_IN_WORKSPACE, values)
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


_KEY = "id, public_id, workspace_id, user_id, scopes, domain_id, only_own, expires_at, last_used_at"
# The second part runs only if the first one has no row: a current key costs one index lookup.
_FIND_SCOPED = f"""
SELECT {_KEY} FROM accounts_scopedkey WHERE digest = %(digest)s
UNION ALL
SELECT {_KEY} FROM accounts_scopedkey WHERE previous_digest = %(digest)s AND previous_until > statement_timestamp()
LIMIT 1
"""  # noqa: S608 # composed of constants
_COUNTED_OF_SCOPED = f"""
SELECT int8send(key_workspace) FROM caller WHERE NOT is_expired AND key_plan <> ALL (%(unlimited)s::text[])
UNION ALL {CHARGED_OWNER.format(workspace="key_workspace", source="current", plan="key_plan", account="account_id")}
"""  # noqa: S608 # composed of constants
_FIND_ACCEPTED = f"SELECT {_KEY} FROM accounts_scopedkey WHERE id = %(key)s AND issuer IS NOT NULL"  # noqa: S608 # composed of constants
# The membership is read with every request, so a member's key never has more than the member's current role. One of
# the workspace has no member, and the role of an admin. The statement also records the use, as that of tokens does. It
# saves three fifths of the processor time of reading or changing a link, and more of creating one, compared with the
# ORM.
_CALLER_OF_FOUND = f"""
WITH key AS ({{found}}), caller AS (
    SELECT k.id AS key_id, k.public_id AS key_public_id, k.scopes, k.domain_id, k.only_own,
        k.expires_at IS NOT NULL AND k.expires_at <= statement_timestamp() AS is_expired,
        {", ".join(f"u.{name}" for name in _FIELDS)}, {", ".join(f"w.{name}" for name in COLUMNS)},
        coalesce(m.role, '{Role.ADMIN}') AS role,
        k.workspace_id AS key_workspace, coalesce(w.plan, u.plan) AS key_plan,
        k.last_used_at IS NULL OR k.last_used_at < statement_timestamp() - interval '{USE_SECONDS} s' AS is_first_use
    FROM key k
    JOIN accounts_workspace w ON w.id = k.workspace_id
    LEFT JOIN accounts_user u ON u.id = k.user_id
    LEFT JOIN accounts_member m ON m.workspace_id = k.workspace_id AND m.user_id = k.user_id
    WHERE k.user_id IS NULL OR (u.is_active AND m.role IS NOT NULL)
), used AS (
    UPDATE accounts_scopedkey s SET last_used_at = statement_timestamp() FROM caller
    WHERE s.id = caller.key_id AND caller.is_first_use AND NOT caller.is_expired AND (
        s.last_used_at IS NULL OR s.last_used_at < statement_timestamp() - interval '{USE_SECONDS} s'
    )
    RETURNING set_config('synchronous_commit', 'off', true)
), current AS (
    SELECT * FROM caller WHERE NOT is_expired
), count AS ({counting(_COUNTED_OF_SCOPED)})
SELECT caller.*, requests, reset FROM caller LEFT JOIN {HIGHEST_COUNT} highest ON true
"""  # noqa: S608 # composed of constants
CALLER_OF_SCOPED_KEY = _CALLER_OF_FOUND.format(found=_FIND_SCOPED)
_CALLER_OF_TOKEN_OF_ISSUER = _CALLER_OF_FOUND.format(found=_FIND_ACCEPTED)
_IS_SCOPED_KEY = f"""
SELECT FROM ({_FIND_SCOPED}) k LEFT JOIN accounts_user u ON u.id = k.user_id WHERE k.user_id IS NULL OR u.is_active
"""
_ACCOUNT_ID = _FIELDS.index("id")
# The first columns: those of `CallerKey`, and whether the key has expired.
_OF_KEY = 6


def caller_of_scoped_key(key: str, workspace: str | None = None) -> Caller | None:
    """The caller in the key's workspace, whose request is counted in the same statement. Raises KeyExpired.

    ``workspace`` is the id that the request names, in any form. Unless it is that of the key's workspace, the caller
    has no role. Call it outside transactions: the commit of a surrounding one would not be durable.
    """
    unlimited = text_array(plans_without_request_limit())
    row = api_keys.read_row(CALLER_OF_SCOPED_KEY, key, unlimited=unlimited)
    return None if row is None else _caller_of_row(row, workspace)


def caller_of_issued_token(raw: str, workspace: str | None = None) -> Caller | None:
    """The caller of a token of an issuer, which acts as a key of a workspace; None if it is another token.

    It counts and is limited as this key. Raises TokenRefused, also without a ``workspace``, or KeyExpired.
    """
    named = None if workspace is None else parse_public_id(workspace)
    try:
        token = accept_token(raw, named)
    except Refused:
        raise TokenRefused from None
    if token is None:
        return None
    values: dict[str, Any] = {"key": token.key, "unlimited": text_array(plans_without_request_limit())}
    with prepared_cursor(may_lose=True) as cursor:
        cursor.execute(_CALLER_OF_TOKEN_OF_ISSUER, values)
        row = cursor.fetchone()
    if row is None:
        # The key, its member or its workspace has ended meanwhile, or the account is not active.
        raise TokenRefused
    return _caller_of_row(row, workspace)._replace(token=(token.issuer, token.subject))


def _caller_of_row(row: Sequence[Any], workspace: str | None) -> Caller:
    *of_key, is_expired = row[:_OF_KEY]
    if is_expired:
        raise KeyExpired
    # The statement itself uses the columns in between.
    fields, (requests, reset) = row[_OF_KEY:-5], row[-2:]
    account = None
    if fields[_ACCOUNT_ID] is not None:
        account = instances.saved(User, dict(zip(_FIELDS, fields, strict=False)))
    acts_in, role = read_membership(account, fields[len(_FIELDS) :])
    assert acts_in is not None  # noqa: S101 # the statement joins the workspace
    acts_in.key = CallerKey(*of_key)
    if workspace is not None and parse_public_id(workspace) != acts_in.public_id:
        role = None
    counted = None if requests is None else Count(requests, reset)
    return Caller(account, acts_in, role, counted, key=acts_in.key)


def is_scoped_key(key: str) -> bool:
    """Whether it is a key of an active account or of a workspace, without counting a request."""
    return api_keys.read_row(_IS_SCOPED_KEY, key) is not None
