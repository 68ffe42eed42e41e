"""The two authentication methods, by which ``request.auth`` is a `Caller`.

Both name ``Bearer`` in ``WWW-Authenticate``; without it DRF returns 403.
"""

from __future__ import annotations

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts import api_keys
from accounts.api_keys import PREFIXES, SCOPED_PREFIX
from accounts.callers import CHARGED_OWNER, COLUMNS, HIGHEST_COUNT, Caller, read_membership
from accounts.models import User
from accounts.rights import CallerKey, plans_without_request_limit
from accounts.selectors import caller_of_api_key, user_of_api_key
from accounts.sessions.queries import caller_of_access_token
from common import instances
from common.database import require_confirmed
from common.http.current_request import Via
from common.ids import parse_public_id
from common.rest.envelope import WWW_AUTHENTICATE, KeyExpired
from limits.rates import Count, counting

# The header that names the workspace in which the request acts.
_WORKSPACE = "HTTP_X_WORKSPACE"


class ApiKeyAuthentication(BaseAuthentication):
    """``X-API-Key: <key>``, for servers. Never in a query string, which would end up in logs.

    Also counts the request for the limit of the workspace. `RequestThrottle` compares.
    """

    via = Via.API_KEY

    def authenticate(self, request: Request) -> tuple[User, Caller] | None:
        key = request.META.get("HTTP_X_API_KEY")
        if key is None:
            return None
        find = caller_of_scoped_key if key.startswith(SCOPED_PREFIX) else caller_of_api_key
        caller = find(key, request.META.get(_WORKSPACE))
        if caller is None:
            raise AuthenticationFailed("The API key is not valid.")
        require_confirmed()
        return caller.account, caller

    def authenticate_header(self, request: Request) -> str:
        return WWW_AUTHENTICATE


# For a key in the header of tokens. Neither a response nor the log may contain the key.
_MISPLACED_KEY = "This is an API key, not a token. Send it in the X-API-Key header."
_NO_KEY = "This endpoint takes a Bearer token from POST /api/auth/login, not an API key."


class BearerAuthentication(BaseAuthentication):
    """``Authorization: Bearer <token>``, for browser front ends (RFC 6750; the scheme's case does not matter).

    ``is_only_method``: the endpoint takes no key. A caller with a valid key gets a message that says so.
    """

    via = Via.TOKEN

    def __init__(self, *, is_only_method: bool = False) -> None:
        self._is_only_method = is_only_method

    def authenticate(self, request: Request) -> tuple[User, Caller] | None:
        scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").strip().partition(" ")
        token = token.strip()
        if scheme.startswith(PREFIXES) or token.startswith(PREFIXES):
            raise AuthenticationFailed(_NO_KEY if self._is_only_method else _MISPLACED_KEY)
        if scheme.lower() == "bearer":
            caller = caller_of_access_token(token, request.META.get(_WORKSPACE))
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


def _is_valid(key: str) -> bool:
    return is_scoped_key(key) if key.startswith(SCOPED_PREFIX) else user_of_api_key(key) is not None


# `last_used_at` is exact to this number of seconds, so that a busy key causes one write a minute.
USE_SECONDS = 60

_USER = [field.attname for field in User._meta.concrete_fields]
_KEY = "id, public_id, workspace_id, user_id, scopes, domain_id, only_own, expires_at, last_used_at"
# The second part runs only if the first one has no row: a current key costs one index lookup.
_FIND = f"""
SELECT {_KEY} FROM accounts_scopedkey WHERE digest = %(digest)s
UNION ALL
SELECT {_KEY} FROM accounts_scopedkey WHERE previous_digest = %(digest)s AND previous_until > statement_timestamp()
LIMIT 1
"""  # noqa: S608 # composed of constants
_COUNTED = f"""
SELECT int8send(key_workspace) FROM caller WHERE NOT is_expired AND key_plan <> ALL (%(unlimited)s::text[])
UNION ALL {CHARGED_OWNER.format(workspace="key_workspace", source="current", plan="key_plan", account="account_id")}
"""  # noqa: S608 # composed of constants
# The membership is read with every request, so the key never has more than its creator's current role. The statement
# also records the use, as `accounts.sessions.queries` does: of concurrent requests one writes, and its commit does not
# wait for the disk.
CALLER_OF_KEY = f"""
WITH key AS ({_FIND}), caller AS (
    SELECT k.id AS key_id, k.public_id AS key_public_id, k.scopes, k.domain_id, k.only_own,
        k.expires_at IS NOT NULL AND k.expires_at <= statement_timestamp() AS is_expired,
        {", ".join(f"u.{name}" for name in _USER)}, {", ".join(f"w.{name}" for name in COLUMNS)}, m.role,
        k.workspace_id AS key_workspace, coalesce(w.plan, u.plan) AS key_plan,
        k.last_used_at IS NULL OR k.last_used_at < statement_timestamp() - interval '{USE_SECONDS} s' AS is_first_use
    FROM key k
    JOIN accounts_user u ON u.id = k.user_id
    JOIN accounts_member m ON m.workspace_id = k.workspace_id AND m.user_id = k.user_id
    JOIN accounts_workspace w ON w.id = k.workspace_id
    WHERE u.is_active
), used AS (
    UPDATE accounts_scopedkey s SET last_used_at = statement_timestamp() FROM caller
    WHERE s.id = caller.key_id AND caller.is_first_use AND NOT caller.is_expired AND (
        s.last_used_at IS NULL OR s.last_used_at < statement_timestamp() - interval '{USE_SECONDS} s'
    )
    RETURNING set_config('synchronous_commit', 'off', true)
), current AS (
    SELECT * FROM caller WHERE NOT is_expired
), count AS ({counting(_COUNTED)})
SELECT caller.*, requests, reset FROM caller LEFT JOIN {HIGHEST_COUNT} highest ON true
"""  # noqa: S608 # composed of constants
_IS_KEY = f"SELECT FROM ({_FIND}) k JOIN accounts_user u ON u.id = k.user_id WHERE u.is_active"
# The first columns: those of `CallerKey`, and whether the key has expired.
_OF_KEY = 6


def caller_of_scoped_key(key: str, workspace: str | None = None) -> Caller | None:
    """The caller in the key's workspace, whose request is counted in the same statement. Raises KeyExpired.

    ``workspace`` is the id that the request names, in any form. Unless it is that of the key's workspace, the caller
    has no role. Call it outside transactions: the commit of a surrounding one would not be durable.
    """
    row = api_keys.read_row(CALLER_OF_KEY, key, unlimited=plans_without_request_limit())
    if row is None:
        return None
    *of_key, is_expired = row[:_OF_KEY]
    if is_expired:
        raise KeyExpired
    # The statement itself uses the columns in between.
    fields, (requests, reset) = row[_OF_KEY:-5], row[-2:]
    account = instances.saved(User, dict(zip(_USER, fields, strict=False)))
    acts_in, role = read_membership(account, fields[len(_USER) :])
    assert acts_in is not None  # noqa: S101 # the statement joins the membership
    acts_in.key = CallerKey(*of_key)
    if workspace is not None and parse_public_id(workspace) != acts_in.public_id:
        role = None
    counted = None if requests is None else Count(requests, reset)
    return Caller(account, acts_in, role, counted, key=acts_in.key)


def is_scoped_key(key: str) -> bool:
    """Whether it is a key of an active account, without counting a request."""
    return api_keys.read_row(_IS_KEY, key) is not None
