"""Links as the interface writes them."""

from __future__ import annotations

from typing import Any

from accounts.models import User
from common.fields import iso_utc
from domains.addresses import BASE_ID, DomainAddress, short_url_of_host
from links.models import Link
from links.selectors import ExportedLink, LinkRow, Overview


def short_url(host: str | None, code: str) -> str:
    return f"{short_url_of_host(host)}/{code}"


def created_link(link: Link) -> dict[str, Any]:
    return {
        "_id": str(link.public_id),
        "originalUrl": link.original_url,
        "shortCode": link.short_code,
        "customCode": link.custom_code,
        "shortUrl": short_url_of(link),
        "title": link.title,
        "tags": link.tags,
        "clickCount": 0,
        "isActive": link.is_active,
        "createdAt": iso_utc(link.created_at),
    }


def whole_link(link: Link, creator: User) -> dict[str, Any]:
    """Every field, except the password, of which only its presence is told."""
    return {
        **created_link(link),
        **changeable_fields(link),
        "clickCount": link.counter.clicks,
        **({"importedClicks": link.counter.imported} if link.counter.imported else {}),
        "domainId": BASE_ID if link.domain is None else str(link.domain.public_id),
        "creator": {
            "_id": str(creator.public_id),
            "firstName": creator.first_name,
            "lastName": creator.last_name,
            "email": creator.email,
        },
        "updatedAt": iso_utc(link.updated_at),
    }


def updated_link(link: Link, changed: set[str]) -> dict[str, Any]:
    """The fields that every update returns, and those that were sent."""
    shown = {"title", "tags", "isActive"} | changed
    if "password" in changed:
        shown.add("hasPassword")
    fields = {name: value for name, value in changeable_fields(link).items() if name in shown}
    return {
        "_id": str(link.public_id),
        "shortUrl": short_url_of(link),
        **fields,
        "updatedAt": iso_utc(link.updated_at),
    }


def changeable_fields(link: Link | ExportedLink) -> dict[str, Any]:
    restrictions = {
        "maxClicks": link.max_clicks,
        "allowedCountries": link.allowed_countries,
        "blockedCountries": link.blocked_countries,
        "allowedDevices": link.allowed_devices,
    }
    return {
        "customCode": link.custom_code,
        "title": link.title,
        "description": link.description,
        "tags": link.tags,
        "isActive": link.is_active,
        "expiresAt": None if link.expires_at is None else iso_utc(link.expires_at),
        "hasPassword": link.has_password,
        "utm": link.utm,
        "restrictions": {name: value for name, value in restrictions.items() if value},
        "redirectType": link.redirect_type,
    }


def listed_link(row: LinkRow) -> dict[str, Any]:
    return {
        "_id": str(row.public_id),
        "originalUrl": row.original_url,
        "shortCode": row.short_code,
        "shortUrl": short_url(row.host, row.custom_code or row.short_code),
        "title": row.title,
        "clickCount": row.clicks,
        "isActive": row.is_active,
        "createdAt": iso_utc(row.created_at),
    }


def overview(found: Overview) -> dict[str, Any]:
    return {
        "totalUrls": found.links,
        "activeUrls": found.active_links,
        "totalClicks": found.clicks,
        "topUrls": [
            {key: value for key, value in listed_link(row).items() if key != "isActive"} for row in found.top
        ],
    }


def available_domain(address: DomainAddress) -> dict[str, Any]:
    return {
        "id": address.id,
        "fullDomain": address.full_domain,
        "domain": address.domain,
        "subdomain": address.subdomain,
        "isDefault": address.is_default,
        "shortUrl": address.short_url,
        "status": address.status,
        "isSystemDomain": address.is_default,
    }


def short_url_of(link: Link) -> str:
    return short_url(None if link.domain is None else link.domain.host, link.custom_code or link.short_code)
