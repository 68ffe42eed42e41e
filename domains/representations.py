"""Domains as the interface writes them."""

from __future__ import annotations

from typing import Any

from common.fields import iso_utc
from domains.models import Domain
from domains.records import required_records


def listed_domain(domain: Domain) -> dict[str, Any]:
    return {
        "_id": str(domain.public_id),
        "domain": domain.domain,
        "subdomain": domain.subdomain,
        "fullDomain": domain.host,
        "status": domain.status,
        "verified": domain.verified,
        "createdAt": iso_utc(domain.created_at),
    }


def whole_domain(domain: Domain) -> dict[str, Any]:
    return {
        **listed_domain(domain),
        "dnsRecords": [record._asdict() for record in required_records(domain)],
    }


def domain_with_settings(domain: Domain) -> dict[str, Any]:
    return {
        **whole_domain(domain),
        "rootUrl": domain.root_url,
        "notFoundUrl": domain.not_found_url,
        "expiredUrl": domain.expired_url,
    }


def verified_domain(domain: Domain) -> dict[str, Any]:
    return {
        "_id": str(domain.public_id),
        "fullDomain": domain.host,
        "status": domain.status,
        "verified": domain.verified,
    }
