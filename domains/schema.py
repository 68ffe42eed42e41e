"""The OpenAPI description of the endpoints under /api/domains."""

from __future__ import annotations

from functools import partial

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiRequest, extend_schema_view
from rest_framework.fields import BooleanField, CharField, ChoiceField

from accounts import idempotency
from common.errors import InvalidFields, NotFound, TooManyAttempts
from common.fields import DateTime
from common.schema import (
    BAD_BODIES,
    NO_CREDENTIAL,
    Part,
    Parts,
    annotate,
    answer,
    example,
    invalid,
    invalid_destination,
    nested,
    nested_list,
    operation,
    pick,
)
from common.schema_hooks import Following
from domains.addresses import NO_DESTINATION
from domains.advice import Amiss
from domains.models import CLAIM_DAYS, DomainStatus
from domains.names import OURS, canonical_name
from domains.proof import Check
from domains.resolver import Answer, Outcome
from domains.serializers import ClaimSerializer, SettingsSerializer
from domains.services import (
    VERIFICATIONS,
    AlreadyClaimed,
    DnsNotConfigured,
    DomainTaken,
    PlanWithoutDomains,
)

_operation = partial(operation, tag="Domains")
_TOKEN = "5f1c0f6a9d3e4b7c8a2d1e0f9b8c7d6e"  # noqa: S105 # an example

annotate(
    ClaimSerializer,
    {
        "domain": {"description": "A complete name, in any spelling that browsers understand."},
        "subdomain": {"description": "What stands before it, if anything: `go` of `go.example.com`."},
    },
)

annotate(
    SettingsSerializer,
    {
        name: {
            "format": "uri",
            "description": "An http or https address; not one of this service, nor of a banned host.",
        }
        for name in ("rootUrl", "notFoundUrl", "expiredUrl")
    },
)

_DNS_RECORD: Parts = {
    "type": Part(ChoiceField(["TXT", "CNAME", "A", "AAAA"]), "TXT"),
    "name": Part(CharField(label="name"), "_shortener-challenge.go.example.com"),
    "value": Part(CharField(), _TOKEN),
}
_DOMAIN: Parts = {
    "_id": Part(CharField(label="_id"), "019a9e3d-7b1c-7d02-a6c4-3e8f5d9b2a10"),
    "domain": Part(CharField(), "example.com"),
    "subdomain": Part(CharField(allow_null=True), "go"),
    "fullDomain": Part(CharField(help_text="Both together, in A-labels."), "go.example.com"),
    "status": Part(
        ChoiceField(
            DomainStatus.values,
            help_text=f"`pending`: not proven yet, and forgotten {CLAIM_DAYS} days after it was added. `active`: it "
            "works. `inactive`: its DNS was wrong on three days in a row; its links answer 410 until it is verified "
            "again.",
        ),
        "pending",
    ),
    "verified": Part(BooleanField(help_text="Whether it is active."), False),
    "createdAt": Part(DateTime(), "2030-03-01T09:30:00.123456Z"),
}
_WHOLE: Parts = {**_DOMAIN, "dnsRecords": nested_list("DnsRecord", _DNS_RECORD)}
_SHOWN: Parts = {"domain": nested("Domain", _WHOLE)}
_SETTINGS: Parts = {
    name: Part(CharField(allow_null=True, help_text=text), f"https://brand.example/{path}")
    for name, path, text in (
        ("rootUrl", "", "Where `/` of the host leads; null: to a page that says there is nothing."),
        ("notFoundUrl", "lost", "Where codes lead that the domain does not have."),
        ("expiredUrl", "over", "Where links lead that have expired or are used up."),
    )
}
_WITH_SETTINGS: Parts = {"domain": nested("DomainWithSettings", {**_WHOLE, **_SETTINGS})}
_VERIFIED: Parts = {
    **pick(_DOMAIN, "_id fullDomain"),
    "status": Part(ChoiceField(DomainStatus.values), "active"),
    "verified": Part(BooleanField(), True),
}


def _refusal_of(domain: str, subdomain: str | None) -> InvalidFields:
    try:
        canonical_name(domain, subdomain)
    except InvalidFields as refusal:
        return refusal
    raise ValueError(domain)


_NO_NAMES = [
    _refusal_of(domain, subdomain)
    for domain, subdomain in (
        *(
            ("exa mple", None),
            ("192.0.2.1", None),
            ("example", None),
            ("example.local", None),
            ("co.uk", None),
        ),
        (f"{'a' * 60}." * 4 + "com", None),
        ("example.com", "-"),
    )
] + [invalid("domain", "ours", OURS)]
_ON_ONE = ("getDomain", "updateDomain", "verifyDomain", "deleteDomain", "getDomainAnalytics")
_BY_ID = OpenApiParameter("id", str, OpenApiParameter.PATH, description="The `_id` of the domain.")
_NO_DOMAIN = NotFound("Domain not found.")
_RESOLVER = "192.0.2.53:53"
_NOT_CONFIGURED = DnsNotConfigured(
    [
        Check(
            type="TXT",
            name="_shortener-challenge.go.example.com",
            expected=[_TOKEN],
            answer=Answer(Outcome.NO_RECORD, _RESOLVER, ttl=300),
            amiss=Amiss.MISSING,
        ),
        Check(
            type="CNAME",
            name="go.example.com",
            expected=["sho.rt"],
            answer=Answer(Outcome.FOUND, _RESOLVER, cnames=("sho.rt",), ttl=300),
            amiss=None,
        ),
    ]
)
_REASONS = ", ".join(f"`{amiss.value}`" for amiss in Amiss)

describe_domains = extend_schema_view(
    list=_operation(
        "listDomains",
        "List one's domains.",
        answer("ListDomains", "The oldest first.", data={"domains": nested_list("ListedDomain", _DOMAIN)}),
        [NO_CREDENTIAL],
    ),
    create=_operation(
        "addDomain",
        "Add a domain.",
        answer(
            "AddDomain",
            "The domain, and the DNS records that prove it.",
            "Domain added successfully.",
            data=_SHOWN,
        ),
        [
            invalid("domain"),
            *_NO_NAMES,
            *BAD_BODIES,
            NO_CREDENTIAL,
            PlanWithoutDomains(),
            AlreadyClaimed(),
            *idempotency.REFUSALS,
        ],
        status=201,
        is_idempotent=True,
        body=OpenApiRequest(
            ClaimSerializer,
            examples=[OpenApiExample("Example", example(pick(_DOMAIN, "domain subdomain")))],
        ),
        leads_to=Following("/data/domain/_id", dict.fromkeys(_ON_ONE, "id"), {"createUrl": "domainId"}),
    ),
    retrieve=_operation(
        "getDomain",
        "Read a domain, the DNS records that prove it, and its settings.",
        answer("GetDomain", "The domain.", data=_WITH_SETTINGS),
        [NO_CREDENTIAL, _NO_DOMAIN],
        parameters=[_BY_ID],
    ),
    partial_update=_operation(
        "updateDomain",
        "Change where a domain sends visitors who do not ask for one of its links.",
        answer("UpdateDomain", "The domain.", "Domain updated successfully.", data=_WITH_SETTINGS),
        [
            *map(invalid_destination, _SETTINGS),
            *(invalid(name, code, message) for name in _SETTINGS for code, message in NO_DESTINATION.items()),
            *BAD_BODIES,
            NO_CREDENTIAL,
            _NO_DOMAIN,
        ],
        parameters=[_BY_ID],
        body=OpenApiRequest(SettingsSerializer, examples=[OpenApiExample("Example", example(_SETTINGS))]),
        description="Settings that are left out stay as they are, null takes one away. Visitors are sent on with 302, "
        "and that is no click.",
    ),
    verify=_operation(
        "verifyDomain",
        "Have a domain's DNS records looked at, and the domain put to work.",
        answer(
            "VerifyDomain",
            "The domain works.",
            "Domain verified successfully.",
            data={"domain": nested("VerifiedDomain", _VERIFIED)},
        ),
        [
            _NOT_CONFIGURED,
            *BAD_BODIES,
            NO_CREDENTIAL,
            PlanWithoutDomains(),
            _NO_DOMAIN,
            DomainTaken(),
            TooManyAttempts(600, limit=VERIFICATIONS.attempts, window=VERIFICATIONS.seconds),
        ],
        parameters=[_BY_ID],
        description="The first account to prove a name owns it. Leave the records in place: they are looked at every "
        "day. `data.checks` of a refusal says of each record what was expected and found, which resolver said so, "
        f"the `reason` ({_REASONS}, or null where it is right) and one sentence of `advice`.",
    ),
    destroy=_operation(
        "deleteDomain",
        "Delete a domain; its short links move to the default domain.",
        answer(
            "DeleteDomain",
            "The domain is gone. Says so if custom codes were taken on the default domain and had to be dropped.",
            "Domain deleted successfully. 2 custom codes were taken on the default domain already, and dropped.",
        ),
        [*BAD_BODIES, NO_CREDENTIAL, _NO_DOMAIN],
        parameters=[_BY_ID],
    ),
)
