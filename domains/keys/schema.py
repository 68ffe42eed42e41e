"""The OpenAPI description of the endpoints under /api/keys."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_serializer

from accounts.api_keys import MAX_GRACE_SECONDS, MAX_KEYS, KeyOfAnother, TooManyKeys
from accounts.rights import WORKSPACE_SCOPES, Scope
from accounts.schema import CONFIRMATION
from accounts.sessions.lifecycle import ConfirmationRequired
from common.errors import NotFound
from common.openapi.error_examples import invalid
from common.openapi.operations import Operation, describe, name_choices
from common.openapi.responses import pagination_representation
from common.rest.fields import DIRECTION_REFUSED
from common.rest.pagination import TOO_DEEP
from domains.keys.serializers import CreateKeySerializer, RotateKeySerializer, UpdateKeySerializer

name_choices("Scope", Scope.values)
for _name, _serializer in {
    "CreateKey": CreateKeySerializer,
    "UpdateKey": UpdateKeySerializer,
    "RotateKey": RotateKeySerializer,
}.items():
    extend_schema_serializer(component_name=_name)(_serializer)

PAGINATION = pagination_representation("KeyPagination")
_SCOPES = "; ".join(f"`{scope.value}`: {scope.label[0].lower()}{scope.label[1:]}" for scope in Scope)
_ERRORS = [
    invalid("name", "blank", "This field may not be blank."),
    invalid("name", "direction", DIRECTION_REFUSED),
    invalid("scopes", "limited", "A key with domainId or onlyOwn cannot have the scope domains:write."),
    invalid("scopes", "invalid_choice", '"x" is not a valid choice.'),
    NotFound("Domain not found."),
]

describe_keys = describe(
    "Keys",
    of="key",
    list=Operation(
        "listKeys",
        "List the keys with scopes of the workspace page by page, newest first.",
        "One page, without the keys themselves; empty past the last page.",
        description="Takes an access token only. Admins of a workspace see the keys of all members, others their own."
        " The account's own API key is not in the list: see GET /api/auth/api-key.",
        errors=[invalid("page", "too_deep", TOO_DEEP)],
    ),
    create=Operation(
        "createKey",
        "Create a key with scopes.",
        "The key. Save `apiKey`: it is not shown again.",
        description="Takes an access token only. The key acts in the workspace of this call, for you and with at most"
        " your role there. It ends with your membership. Each call requires one scope, and none includes another:"
        f" {_SCOPES}. No call that takes keys requires `keys:write`. A key with `domainId` works only with that domain"
        " and its links, and one with `onlyOwn` only with the links that it created; neither can have"
        f" {', '.join(f'`{scope.value}`' for scope in Scope if scope in WORKSPACE_SCOPES)}. A member has at most"
        f" {MAX_KEYS} keys in a workspace.{CONFIRMATION}",
        examples=[{"name": "Nightly import", "scopes": ["urls:read", "urls:write"]}],
        errors=[
            *_ERRORS,
            invalid("expiresAt", "past", "Must be in the future."),
            TooManyKeys(),
            ConfirmationRequired(),
        ],
    ),
    partial_update=Operation(
        "updateKey",
        "Change a key with scopes.",
        "The key.",
        description="Takes an access token only. Omitted fields keep their value. You can send back the whole object:"
        " read-only fields are ignored. The change is in force before this response. Only the member who created the"
        " key can change it. Changes that let the key do more, such as a further scope or a later expiry, need a"
        " recent login." + CONFIRMATION,
        examples=[{"name": "Weekly import", "scopes": ["urls:write"]}],
        errors=[*_ERRORS, KeyOfAnother(), ConfirmationRequired()],
    ),
    destroy=Operation(
        "deleteKey",
        "Delete a key with scopes.",
        "The key no longer works.",
        description="Takes an access token only. All workers and hosts reject the key before this response. Admins of"
        " a workspace can delete the keys of all members.",
    ),
    rotate=Operation(
        "rotateKey",
        "Replace a key with scopes.",
        "The key. Save `apiKey`: it is not shown again.",
        description="Takes an access token only. The former key keeps working for `graceSeconds`, at most"
        f" {MAX_GRACE_SECONDS}; without it, it stops working before this response. A key that was replaced earlier"
        " stops working at once. Only the member who created the key can rotate it." + CONFIRMATION,
        examples=[{"graceSeconds": 3600}],
        errors=[
            invalid(
                "graceSeconds",
                "max_value",
                f"Ensure this value is less than or equal to {MAX_GRACE_SECONDS}.",
            ),
            KeyOfAnother(),
            ConfirmationRequired(),
        ],
    ),
)
