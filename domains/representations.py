"""Domains as the API shows them: each field's value, schema and example."""

from __future__ import annotations

from typing import Any

from common.openapi.responses import Representation, choice, flag, moment, public_id, text
from domains.models import CLAIM_DAYS, Domain, DomainStatus
from domains.verification import required_records

RECORD_TYPES = ("TXT", "CNAME", "A", "AAAA")
EXAMPLE_TOKEN = "5f1c0f6a9d3e4b7c8a2d1e0f9b8c7d6e"  # noqa: S105 # an example


def _records(domain: Domain) -> list[dict[str, Any]]:
    return [_record(record) for record in required_records(domain)]


_record = Representation(
    "DnsRecord",
    choice("type", "type", RECORD_TYPES, "TXT"),
    text("name", "name", "_shortener-challenge.go.example.com", label="name"),
    text("value", "value", EXAMPLE_TOKEN),
)
listed_domain = Representation(
    "ListedDomain",
    public_id("019a9e3d-7b1c-7d02-a6c4-3e8f5d9b2a10"),
    text("domain", "domain", "example.com"),
    text("subdomain", "subdomain", "go", allow_null=True),
    text("fullDomain", "host", "go.example.com", "The complete host name, in A-labels."),
    choice(
        "status",
        "status",
        DomainStatus.values,
        "pending",
        f"`pending`: not verified yet; the claim expires {CLAIM_DAYS} days after it was added. `active`: verified. "
        "`inactive`: its DNS was wrong on three days in a row; its links return 410 until it is verified again.",
    ),
    flag("verified", "verified", False, "Whether it is active."),
    moment("createdAt", "created_at", "2030-03-01T09:30:00.123456Z"),
    moment(
        "verifyBefore",
        "verify_before",
        "2030-03-08T09:30:00.123456Z",
        allow_null=True,
        help_text="When a pending claim expires; null: not pending.",
    ),
    moment(
        "nextCheckAt",
        "next_check_at",
        None,
        allow_null=True,
        help_text="When the service checks the DNS records of an active domain again; null: not active.",
    ),
)
whole_domain = Representation("Domain", *listed_domain.fields, _record.listed("dnsRecords", _records))
domain_settings = Representation(
    "",
    *(
        text(name, source, f"https://brand.example/{path}", help_text, allow_null=True)
        for name, source, path, help_text in (
            (
                "rootUrl",
                "root_url",
                "",
                "Redirect target of `/` on this host; null: a built-in page.",
            ),
            ("notFoundUrl", "not_found_url", "lost", "Redirect target of unknown codes."),
            (
                "expiredUrl",
                "expired_url",
                "over",
                "Redirect target of links that have expired or reached their click limit.",
            ),
        )
    ),
)
domain_with_settings = Representation("DomainWithSettings", *whole_domain.fields, *domain_settings.fields)
verified_domain = Representation(
    "VerifiedDomain",
    *listed_domain.pick("", "_id fullDomain").fields,
    choice("status", "status", DomainStatus.values, "active"),
    flag("verified", "verified", True),
)
