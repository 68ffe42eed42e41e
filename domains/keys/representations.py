"""Keys with scopes as the API shows them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from rest_framework.fields import ChoiceField, ListField

from accounts.models import ScopedKey
from accounts.rights import Scope
from common.openapi.responses import Field, Representation, flag, identifier, moment, public_id, text
from domains.models import Domain

EXAMPLE_KEY = "sl_key_0123456789ABCDEFGHIJKLMNOPQRSTUV4kuzEo"

_creator = Representation(
    "KeyCreator",
    identifier("_id", "public_id", "01a1fa86-3c5e-7d21-9f0a-4b6c8d2e1f35"),
    text("email", "email", "ada@example.com"),
    text("firstName", "first_name", "Ada"),
    text("lastName", "last_name", "Lovelace"),
)
key_object = Representation(
    "Key",
    public_id("01a1fa86-b41c-7e0d-93a5-7c2f1d8e6b90"),
    text("name", "name", "Nightly import"),
    Field(
        "scopes",
        lambda key: [scope.value for scope in key.scope_list],
        ListField(child=ChoiceField(Scope.values)),
        [Scope.URLS_READ.value, Scope.URLS_WRITE.value],
    ),
    text("domainId", None, None, "The only domain with whose links it works. Null: any.", allow_null=True),
    flag("onlyOwn", "only_own", False, "Whether it works only with the links that it created."),
    moment("expiresAt", "expires_at", "2030-01-05T09:30:00Z", allow_null=True),
    moment("lastUsedAt", "last_used_at", None, help_text="Exact to a minute.", allow_null=True),
    moment(
        "graceUntil",
        "previous_until",
        None,
        help_text="When the key before the last rotation stops working.",
        allow_null=True,
    ),
    moment("createdAt", "created_at", "2026-01-05T09:30:00Z"),
    _creator.nested("creator", lambda key: _creator(key.user)),
)
new_key_object = Representation(
    "NewKey", *key_object.fields, text("apiKey", None, EXAMPLE_KEY, "The key itself. It is shown only here.")
)


def represent_keys(keys: Collection[ScopedKey]) -> list[dict[str, Any]]:
    """With one query for all domains."""
    domains = _public_ids(key.domain_id for key in keys)
    return [{**key_object(key), "domainId": domains.get(key.domain_id)} for key in keys]


def represent_key(key: ScopedKey) -> dict[str, Any]:
    return represent_keys([key])[0]


def _public_ids(domain_ids: Iterable[int | None]) -> dict[int | None, Any]:
    named = {domain_id for domain_id in domain_ids if domain_id is not None}
    return dict(Domain.objects.filter(pk__in=named).values_list("pk", "public_id")) if named else {}
