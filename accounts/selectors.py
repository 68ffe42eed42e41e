"""Reads of accounts, and of the caller that an API key identifies.

Trades clarity for speed: one statement finds the account of a key, its workspace and role, and counts the request.
Finding the key takes 144 us, and took 608 with the ORM. docs/adr/0008-cost-of-an-api-request.md says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accounts import api_keys
from accounts.callers import (
    CHARGED_OWNER,
    HIGHEST_COUNT,
    MEMBERSHIP,
    Caller,
    personal_workspace,
    read_membership,
)
from accounts.models import ApiKey, User
from accounts.rights import Role, plans_without_request_limit
from common import instances
from common.database import read_first
from common.ids import parse_public_id
from limits.rates import Count, counting

_FIELDS = [field.attname for field in User._meta.concrete_fields]
_USER_OF_KEY = f"""
SELECT {", ".join(f"u.{name}" for name in _FIELDS)}
FROM accounts_apikey k JOIN accounts_user u ON u.id = k.user_id WHERE k.digest = %(digest)s AND u.is_active
"""  # noqa: S608 # composed of constants
# The subjects are those of `Caller.subjects`.
_CALLER_OF_KEY = f"""
WITH account AS ({_USER_OF_KEY}), count AS (
    {counting("SELECT int8send(id) FROM account WHERE plan <> ALL (%(unlimited)s::text[])")}
)
SELECT account.*, requests, reset FROM account LEFT JOIN count ON true
"""  # noqa: S608 # composed of constants
_COUNTED = f"""
SELECT int8send(coalesce(w.id, a.id)) FROM account a LEFT JOIN workspace w ON true
WHERE coalesce(w.plan, a.plan) <> ALL (%(unlimited)s::text[])
UNION ALL {CHARGED_OWNER.format(workspace="id", source="workspace", plan="plan", account="account_id")}
"""  # noqa: S608 # composed of constants
_CALLER_IN_WORKSPACE = f"""
WITH account AS ({_USER_OF_KEY}), workspace AS ({MEMBERSHIP}), count AS ({counting(_COUNTED)})
SELECT a.*, w.*, requests, reset
FROM account a LEFT JOIN workspace w ON true LEFT JOIN {HIGHEST_COUNT} highest ON true
"""  # noqa: S608 # composed of constants


def caller_of_api_key(key: str, workspace: str | None = None) -> Caller | None:
    """The active account of a key, whose request is counted in the same statement.

    ``workspace`` is the id that the request names, in any form. Without it, the account acts in its personal one.

    The database confirms the key with every request, so a revoked key is invalid everywhere at once. The statement may
    be repeated after a lost connection: the request then counts twice.
    """
    unlimited = plans_without_request_limit()
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


def user_of_email(email: str) -> User | None:
    return read_first(User.objects.filter(email=email.lower()).first)


def key_of(user: User) -> ApiKey | None:
    return read_first(ApiKey.objects.filter(user=user).first)
