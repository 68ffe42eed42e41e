"""What is stored about a person: the rows that belong to an account, with all columns but secrets.

`PARTS` and `EXCLUDED` name every model that refers to an account or has an address; a test compares them with the
models. The columns of a part are read from its model, so that a new one is exported unless it is withheld.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.db import models
from django.db.models import Q

from accounts.models import ApiKey, Change, Invitation, Member, ScopedKey, Session, User, Workspace
from accounts.rights import scopes_of
from common.rest.fields import iso_utc

_SECRET = "A secret, or what secrets are compared with."  # noqa: S105 # a reason
_OF_OTHERS = "It may name other people."
_WORKSPACE = "It belongs to a workspace: see its history."


class Part(NamedTuple):
    """Rows of a model; those of the floors above are named. ``withheld``: the reason for each column that is left out;
    binary columns are secrets.

    ``converted`` replaces the stored values of some columns.
    """

    of: type[models.Model] | str
    rows: Callable[[User], Q]
    withheld: Mapping[str, str] = {}
    converted: Mapping[str, Callable[[Any], Any]] = {}

    @property
    def model(self) -> type[models.Model]:
        return apps.get_model(self.of) if isinstance(self.of, str) else self.of


def _of(name: str) -> Callable[[User], Q]:
    return lambda user: Q(**{name: user.pk})


def _own_changes(user: User) -> Q:
    # There is no index on authors alone.
    return Q(owner__in=Member.objects.filter(user=user).values("workspace"), actor=user.pk)


PARTS = {
    "account": Part(User, _of("pk"), {"password": _SECRET}),
    "workspaces": Part(Workspace, _of("account")),
    "memberships": Part(Member, _of("user")),
    "invitations": Part(Invitation, lambda user: Q(email=user.email) | Q(invited_by=user.pk)),
    "emailAddresses": Part(EmailAddress, _of("user")),
    "identities": Part(SocialAccount, _of("user")),
    "secondFactors": Part(Authenticator, _of("user"), {"data": _SECRET}),
    "apiKey": Part(ApiKey, _of("user")),
    "keys": Part(
        ScopedKey,
        _of("user"),
        {"domain_id": "An internal number: GET /api/keys has the domain."},
        {"scopes": lambda bits: [scope.value for scope in scopes_of(bits)]},
    ),
    "sessions": Part(Session, _of("user"), {"password_fingerprint": _SECRET, "browser_session": _SECRET}),
    "groups": Part(User.groups.through, _of("user")),
    "permissions": Part(User.user_permissions.through, _of("user")),
    "adminActions": Part(LogEntry, _of("user"), {"object_repr": _OF_OTHERS, "change_message": _OF_OTHERS}),
    "reportMails": Part("analytics.ReportMail", _of("user")),
    "changes": Part(Change, _own_changes, {"before": _WORKSPACE, "after": _WORKSPACE}),
}
# By model. Changes in workspaces that the account has left are part of their histories.
EXCLUDED = {
    "accounts.PasskeyHandle": "A random number, which passkeys carry instead of the account's number.",
    "account.EmailConfirmation": _SECRET,
    "socialaccount.SocialToken": _SECRET,
    "links.Link": "It belongs to a workspace: GET /api/urls/export has its links.",
    "limits.AttemptLog": "Times under keyed hashes, which lead to no account, for some hours.",
    "limits.KnownNetwork": "Keyed hashes of networks, which lead to no account.",
    "limits.RequestCount": "The number of requests in the present minute.",
}
_BINARY = "A secret, or a digest."


class Omission(NamedTuple):
    """``name``: a model, or a part and its column."""

    name: str
    reason: str


def personal_data(user: User) -> dict[str, list[dict[str, Any]]]:
    """The rows of each part, in the order of their keys. One query for each."""
    return {name: _read(part, user) for name, part in PARTS.items()}


def omissions() -> list[Omission]:
    of_columns = [
        Omission(f"{name}.{_camel(column.name)}", part.withheld.get(column.name, _BINARY))
        for name, part in PARTS.items()
        for column in _columns(part.model)
        if _is_withheld(part, column)
    ]
    return of_columns + [Omission(model, reason) for model, reason in EXCLUDED.items()]


def _read(part: Part, user: User) -> list[dict[str, Any]]:
    columns = {
        _key(column): _path(column)
        for column in _columns(part.model)
        if not _is_withheld(part, column) and column.related_model is not User
    }
    names = list(columns)
    rows = part.model._default_manager.filter(part.rows(user)).order_by("pk").values_list(*columns.values())
    converted = [part.converted.get(path, _shown) for path in columns.values()]
    return [
        {name: convert(value) for name, convert, value in zip(names, converted, row, strict=True)}
        for row in rows
    ]


def _columns(model: type[models.Model]) -> list[models.Field[Any, Any]]:
    """Without numbers that only the database uses."""
    return [
        field
        for field in model._meta.concrete_fields
        if field.name != "id" and not isinstance(field, models.CompositePrimaryKey)
    ]


def _is_withheld(part: Part, column: models.Field[Any, Any]) -> bool:
    return column.name in part.withheld or isinstance(column, models.BinaryField)


def _key(column: models.Field[Any, Any]) -> str:
    if column.name == "public_id":
        return "_id"
    return _camel(column.name) + ("Id" if _has_public_id(column) else "")


def _path(column: models.Field[Any, Any]) -> str:
    """A related row is named by its API id, or by what distinguishes it in words."""
    if _has_public_id(column):
        return f"{column.name}__public_id"
    related = column.related_model
    if related is None:
        return column.name
    return f"{column.name}__{_NATURAL[related._meta.label]}"


# For models without an API id.
_NATURAL = {"auth.Group": "name", "auth.Permission": "codename", "contenttypes.ContentType": "model"}


def _has_public_id(column: models.Field[Any, Any]) -> bool:
    related = column.related_model
    return related is not None and any(field.name == "public_id" for field in related._meta.concrete_fields)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def _shown(value: Any) -> Any:
    return iso_utc(value) if isinstance(value, datetime) else value
