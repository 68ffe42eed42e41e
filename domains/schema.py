"""The OpenAPI description of the endpoints under /api/domains and /api/keys."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_serializer

from accounts.api_keys import (
    MAX_GRACE_SECONDS,
    MAX_KEYS,
    PERSONAL_WORKSPACE,
    KeyOfAnother,
    KeyOfIssuer,
    KeyOwner,
    TooManyKeys,
    TooManyWorkspaceKeys,
)
from accounts.caps import CapReached
from accounts.rights import MEMBER_SCOPES, WORKSPACE_SCOPES, Role, Scope
from accounts.schema import CONFIRMATION
from accounts.sessions.lifecycle import ConfirmationRequired
from accounts.token_issuers.issuer_keys import ALGORITHMS
from accounts.token_issuers.services import SAME_TOKENS, UNREACHABLE
from accounts.token_issuers.tokens import CLOCK_SECONDS
from common.errors import Conflict, InvalidFields, NotFound, RoleRequired, TooManyAttempts
from common.openapi.document import NextOperations
from common.openapi.error_examples import invalid, invalid_destination
from common.openapi.operations import Operation, describe, name_choices
from common.openapi.responses import example, pagination_representation
from common.resolver import Answer, Outcome
from common.rest.fields import DIRECTION_REFUSED, one_of
from common.rest.pagination import TOO_DEEP
from domains.addresses import NO_DESTINATION
from domains.app_links import APP_ID_REFUSED, APP_PATH_REFUSED, FINGERPRINT_REFUSED, PACKAGE_NAME_REFUSED
from domains.models import CLAIM_DAYS, DomainStatus
from domains.names import OURS, canonical_name
from domains.representations import (
    EXAMPLE_JWK,
    EXAMPLE_TOKEN,
    RECORD_TYPES,
    domain_settings,
    listed_domain,
    token_issuer,
)
from domains.serializers import (
    AUDIENCE_REFUSED,
    BAD_JWK,
    ISSUER_REFUSED,
    PRIVATE_JWK,
    SUBJECT_REFUSED,
    ClaimSerializer,
    CreateKeySerializer,
    CreateTokenIssuerSerializer,
    JwkSerializer,
    JwksSerializer,
    RotateKeySerializer,
    SettingsSerializer,
    UpdateKeySerializer,
    UpdateTokenIssuerSerializer,
)
from domains.services import VERIFICATIONS, AlreadyClaimed, DnsNotConfigured, DomainTaken, PlanWithoutDomains
from domains.verification import Check, Problem

name_choices("DomainStatus", DomainStatus.values)
name_choices("DnsRecordType", RECORD_TYPES)
extend_schema_serializer(component_name="AddDomain")(ClaimSerializer)
extend_schema_serializer(component_name="DomainSettings")(SettingsSerializer)

_SETTINGS = [setting.name for setting in domain_settings.fields]


def _error_of(domain: str, subdomain: str | None) -> InvalidFields:
    try:
        canonical_name(domain, subdomain)
    except InvalidFields as error:
        return error
    raise ValueError(domain)


_BAD_NAMES = ("exa mple", "192.0.2.1", "example", "example.local", "co.uk", f"{'a' * 60}." * 4 + "com")
_INVALID_NAMES = [
    *(_error_of(name, None) for name in _BAD_NAMES),
    _error_of("example.com", "-"),
    invalid("domain", "ours", OURS),
]
PAGINATION = pagination_representation("DomainPagination").nested("pagination", required=False)
_ON_ONE = (
    "getDomain",
    "updateDomain",
    "verifyDomain",
    "deleteDomain",
    "getDomainAnalytics",
    "listUnknownCodes",
)
_RESOLVER = "192.0.2.53:53"
_NO_RECORD = Answer(Outcome.NO_RECORD, _RESOLVER, ttl=300)
_CNAME = Answer(Outcome.FOUND, _RESOLVER, cnames=("sho.rt",), ttl=300)
_NOT_CONFIGURED = DnsNotConfigured(
    [
        Check("TXT", "_shortener-challenge.go.example.com", [EXAMPLE_TOKEN], _NO_RECORD, Problem.MISSING),
        Check("CNAME", "go.example.com", ["sho.rt"], _CNAME, None),
    ]
)
_REASONS = ", ".join(f"`{problem.value}`" for problem in Problem)

describe_domains = describe(
    "Domains",
    of="domain",
    list=Operation(
        "listDomains",
        "List the account's domains.",
        "The domains, oldest first.",
        description="Without `page` and `limit`, the list contains all domains and has no `pagination`. With either of"
        " them, it is one page; a page past the end is empty.",
        errors=[invalid("page", "too_deep", TOO_DEEP)],
    ),
    create=Operation(
        "addDomain",
        "Add a domain.",
        "The domain, and the DNS records that verify it.",
        description="Needs the Pro or Enterprise plan. Create the `dnsRecords` of the response, then call `verify`"
        f" within {CLAIM_DAYS} days. Until then no short link can use the domain.",
        examples=[example(listed_domain.pick("", "domain subdomain").fields)],
        errors=[
            invalid("domain"),
            *_INVALID_NAMES,
            PlanWithoutDomains(),
            CapReached(100, "domains"),
            AlreadyClaimed(),
        ],
        next_operations=NextOperations(
            "/data/domain/_id", dict.fromkeys(_ON_ONE, "id"), {"createUrl": "domainId"}
        ),
    ),
    retrieve=Operation(
        "getDomain",
        "Read a domain, the DNS records that verify it, and its settings.",
        "The domain.",
        description="The `dnsRecords` must stay in place after the verification: the service checks them every day.",
    ),
    partial_update=Operation(
        "updateDomain",
        "Change what visitors of a domain get who follow none of its links.",
        "The domain.",
        description="Omitted settings keep their value; null removes a setting. The URLs are targets of a 302, which "
        "is not counted as a click. Without them, visitors get a page; `pages` has the owner's own words on each, in "
        "plain text. Programs that prefer JSON get the service's words. `appLinks` names the apps that open links; "
        "the active domain shows them to iOS and Android under `/.well-known/`. `codeLength` and `codeAlphabet` "
        "concern the codes that are generated from now on.",
        examples=[domain_settings.example],
        errors=[
            *map(invalid_destination, _SETTINGS),
            *(invalid(name, code, message) for name in _SETTINGS for code, message in NO_DESTINATION.items()),
            invalid("appLinks.apple.appIds.0", "app_id", APP_ID_REFUSED),
            invalid("appLinks.apple.paths.0", "app_path", APP_PATH_REFUSED),
            invalid("appLinks.android.0.packageName", "package_name", PACKAGE_NAME_REFUSED),
            invalid("appLinks.android.0.fingerprints.0", "fingerprint", FINGERPRINT_REFUSED),
        ],
    ),
    verify=Operation(
        "verifyDomain",
        "Check a domain's DNS records and activate the domain.",
        "The domain is active.",
        description="The first account that verifies a name owns it. Keep the records: the service checks them every "
        "day. In an error, `data.checks` has for each record the expected and actual values, the resolver, "
        f"the `reason` ({_REASONS}, or null for a correct record) and one sentence of `advice`; for a wrong value "
        "also the records to `remove` and to `add`.",
        errors=[
            _NOT_CONFIGURED,
            PlanWithoutDomains(),
            DomainTaken(),
            TooManyAttempts(600, limit=VERIFICATIONS.attempts, window=VERIFICATIONS.seconds),
        ],
    ),
    destroy=Operation(
        "deleteDomain",
        "Delete a domain; its short links move to the default domain.",
        "The domain is deleted. `message` gives the number of custom codes that were dropped, if any.",
        description="A custom code that is taken on the default domain is dropped; its link keeps its `shortCode`.",
    ),
)


name_choices("Scope", Scope.values)
name_choices("KeyOwner", KeyOwner.values)
for _name, _serializer in {
    "CreateKey": CreateKeySerializer,
    "UpdateKey": UpdateKeySerializer,
    "RotateKey": RotateKeySerializer,
    "CreateTokenIssuer": CreateTokenIssuerSerializer,
    "UpdateTokenIssuer": UpdateTokenIssuerSerializer,
    "Jwks": JwksSerializer,
    "Jwk": JwkSerializer,
}.items():
    extend_schema_serializer(component_name=_name)(_serializer)

KEY_PAGINATION = pagination_representation("KeyPagination")
_SCOPES = "; ".join(f"`{scope.value}`: {scope.label[0].lower()}{scope.label[1:]}" for scope in Scope)
_ERRORS = [
    invalid("name", "blank", "This field may not be blank."),
    invalid("name", "direction", DIRECTION_REFUSED),
    invalid("scopes", "limited", "A key with domainId or onlyOwn cannot have the scope domains:write."),
    invalid("scopes", "needs_member", "A key of the workspace cannot have the scope members:write."),
    invalid("scopes", "invalid_choice", f'"x" is not a valid choice. {one_of(Scope.values)}'),
    NotFound("Domain not found."),
]

describe_keys = describe(
    "Keys",
    of="key",
    list=Operation(
        "listKeys",
        "List the keys with scopes of the workspace page by page, newest first.",
        "One page, without the keys themselves; empty past the last page.",
        description="Admins of a workspace see its own keys and those of all members, others theirs."
        " The account's own API key is not in the list: see GET /api/auth/api-key.",
        errors=[invalid("page", "too_deep", TOO_DEEP)],
    ),
    create=Operation(
        "createKey",
        "Create a key with scopes.",
        "The key. Save `apiKey`: it is not shown again.",
        description="The key acts in the workspace of this call, for you and with at most"
        " your role there. It ends with your membership. With `belongsTo: workspace`, which admins of a team can"
        " choose, it outlives your membership instead, acts with the rights of an admin within its scopes, and has no"
        " account, so what it creates has no `creator`. It cannot have"
        f" {' or '.join(f'`{scope.value}`' for scope in Scope if scope in MEMBER_SCOPES)}. Each call requires one"
        f" scope, and none includes another: {_SCOPES}. A key with `domainId` works only with that domain"
        " and its links, and one with `onlyOwn` only with the links that it created; neither can have"
        f" {', '.join(f'`{scope.value}`' for scope in Scope if scope in WORKSPACE_SCOPES)}. A member has at most"
        f" {MAX_KEYS} keys in a workspace, and the workspace as many of its own.{CONFIRMATION}",
        examples=[{"name": "Nightly import", "scopes": ["urls:read", "urls:write"]}],
        errors=[
            *_ERRORS,
            invalid("expiresAt", "past", "Must be in the future."),
            InvalidFields([PERSONAL_WORKSPACE]),
            RoleRequired(Role.ADMIN),
            TooManyKeys(),
            TooManyWorkspaceKeys(),
            ConfirmationRequired(),
        ],
    ),
    partial_update=Operation(
        "updateKey",
        "Change a key with scopes.",
        "The key.",
        description="Omitted fields keep their value. You can send back the whole object:"
        " read-only fields are ignored. The change is in force before this response. Only the member to whom the"
        " key belongs can change it, and admins those of the workspace. Changes that let the key do more, such as a"
        " further scope or a later expiry, need a recent login." + CONFIRMATION,
        examples=[{"name": "Weekly import", "scopes": ["urls:write"]}],
        errors=[*_ERRORS, KeyOfAnother(), ConfirmationRequired()],
    ),
    destroy=Operation(
        "deleteKey",
        "Delete a key with scopes.",
        "The key no longer works.",
        description="All workers and hosts reject the key before this response. Admins of"
        " a workspace can delete its own keys and those of all members.",
    ),
    rotate=Operation(
        "rotateKey",
        "Replace a key with scopes.",
        "The key. Save `apiKey`: it is not shown again.",
        description="The former key keeps working for `graceSeconds`, at most"
        f" {MAX_GRACE_SECONDS}; without it, it stops working before this response. A key that was replaced earlier"
        " stops working at once. Only the member to whom the key belongs can rotate it, and admins those of the"
        " workspace." + CONFIRMATION,
        examples=[{"graceSeconds": 3600}],
        errors=[
            invalid(
                "graceSeconds",
                "max_value",
                f"Ensure this value is less than or equal to {MAX_GRACE_SECONDS}.",
            ),
            KeyOfAnother(),
            KeyOfIssuer(),
            ConfirmationRequired(),
        ],
    ),
)

ISSUER_PAGINATION = pagination_representation("TokenIssuerPagination")
_ISSUER_ERRORS = [
    *_ERRORS,
    invalid("issuer", "issuer", ISSUER_REFUSED),
    invalid("issuer", "unreachable", UNREACHABLE.format(reason="The host did not answer in time.")),
    invalid("audience", "audience", AUDIENCE_REFUSED),
    invalid("subject", "subject", SUBJECT_REFUSED),
    invalid("jwks.keys.0", "private", PRIVATE_JWK),
    invalid("jwks.keys.0", "jwk", BAD_JWK),
    Conflict(SAME_TOKENS),
    ConfirmationRequired(),
]
_ISSUER_EXAMPLE = {
    **token_issuer.pick("", "issuer audience subject").example,
    "name": "Deployments",
    "scopes": ["urls:write"],
}

describe_issuers = describe(
    "Keys",
    of="token issuer",
    list=Operation(
        "listTokenIssuers",
        "List the token issuers of the workspace page by page, newest first.",
        "One page; empty past the last page.",
        description="Each is a key with scopes, and also in the list of keys.",
        errors=[invalid("page", "too_deep", TOO_DEEP)],
    ),
    create=Operation(
        "createTokenIssuer",
        "Accept tokens of an issuer, such as GitHub Actions or Kubernetes, instead of a stored key.",
        "The token issuer.",
        description="A program sends a token of the issuer as `Authorization: Bearer`, with the workspace in"
        " `X-Workspace`, and acts like a key of the workspace with these `scopes` and limits (in a personal"
        " workspace, like a key of yours). The token must be signed with"
        f" {' or '.join(ALGORITHMS)}, have this `issuer` and `audience`, a `sub` that matches `subject`, and `exp` and"
        f" `iat`, at most a day apart; clocks may differ by {CLOCK_SECONDS} seconds. A `*` in `subject` stands for any"
        " characters. If several token issuers of the workspace accept a token, it acts as the one with the most"
        " characters beside `*`, and among these as the oldest. It is refused without `X-Workspace`."
        " The service reads the issuer's keys by its discovery document, or takes them from `jwks`."
        " Token issuers count as keys of the workspace, of which it has at most"
        f" {MAX_KEYS}.{CONFIRMATION}",
        # The first one needs no request to the issuer, so that readers can try it as it stands.
        examples=[
            {
                "name": "Nightly job",
                "issuer": "https://kubernetes.default.svc.cluster.local",
                "audience": "https://sho.rt",
                "subject": "system:serviceaccount:jobs:nightly",
                "jwks": {"keys": [EXAMPLE_JWK]},
                "scopes": ["urls:read", "analytics:read"],
            },
            _ISSUER_EXAMPLE,
        ],
        errors=[
            *_ISSUER_ERRORS,
            invalid("expiresAt", "past", "Must be in the future."),
            TooManyKeys(),
            TooManyWorkspaceKeys(),
        ],
    ),
    retrieve=Operation(
        "getTokenIssuer",
        "Read a token issuer.",
        "The token issuer.",
        description="Tokens act as this key while it exists and has not expired.",
    ),
    partial_update=Operation(
        "updateTokenIssuer",
        "Change a token issuer.",
        "The token issuer.",
        description="Omitted fields keep their value. You can send back the whole object:"
        " read-only fields are ignored. The change is in force before this response. Changes that accept other"
        " tokens or let them do more need a recent login." + CONFIRMATION,
        examples=[{"subject": "repo:acme/site:environment:production"}],
        errors=_ISSUER_ERRORS,
    ),
    destroy=Operation(
        "deleteTokenIssuer",
        "Delete a token issuer.",
        "Its tokens no longer work.",
        description="All workers and hosts refuse its tokens before this response.",
    ),
)
