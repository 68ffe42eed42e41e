"""The OpenAPI description of the endpoints under /api/domains."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_serializer

from accounts.caps import CapReached
from common.errors import InvalidFields, TooManyAttempts
from common.openapi.document import NextOperations
from common.openapi.error_examples import invalid, invalid_destination
from common.openapi.operations import Operation, describe, name_choices
from common.openapi.responses import example, pagination_representation
from common.rest.pagination import TOO_DEEP
from domains.addresses import NO_DESTINATION
from domains.models import CLAIM_DAYS, DomainStatus
from domains.names import OURS, canonical_name
from domains.representations import (
    EXAMPLE_TOKEN,
    RECORD_TYPES,
    domain_settings,
    listed_domain,
)
from domains.resolver import Answer, Outcome
from domains.serializers import ClaimSerializer, SettingsSerializer
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
_ON_ONE = ("getDomain", "updateDomain", "verifyDomain", "deleteDomain", "getDomainAnalytics")
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
        "Change the redirect targets of a domain for requests that match none of its links.",
        "The domain.",
        description="Omitted settings keep their value; null removes a setting. Visitors get a 302, which is not "
        "counted as a click.",
        examples=[domain_settings.example],
        errors=[
            *map(invalid_destination, _SETTINGS),
            *(invalid(name, code, message) for name in _SETTINGS for code, message in NO_DESTINATION.items()),
        ],
    ),
    verify=Operation(
        "verifyDomain",
        "Check a domain's DNS records and activate the domain.",
        "The domain is active.",
        description="The first account that verifies a name owns it. Keep the records: the service checks them every "
        "day. In an error, `data.checks` has for each record the expected and actual values, the resolver, "
        f"the `reason` ({_REASONS}, or null for a correct record) and one sentence of `advice`.",
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
