"""Domains with links that tests delete."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from testing.domains.domains import active_domain

HOST = "go.brand.example"
URL = "https://example.com/page"


@pytest.fixture
def brand(alice: NewAccount) -> Domain:
    return active_domain(alice.workspace, HOST)


def create(client: APIClient, code: str | None = None, domain: Domain | None = None) -> Any:
    domain_id = "base" if domain is None else str(domain.public_id)
    return client.post("/api/urls", {"originalUrl": URL, "customCode": code, "domainId": domain_id})


def created(client: APIClient, code: str | None = None, domain: Domain | None = None) -> dict[str, Any]:
    response = create(client, code, domain)
    assert response.status_code == 201, response.content
    return response.json()["data"]["url"]


def delete(client: APIClient, domain: Domain) -> Any:
    return client.delete(f"/api/domains/{domain.public_id}")


def deleted(client: APIClient, domain: Domain) -> str:
    response = delete(client, domain)
    assert response.status_code == 200, response.content
    assert response.json().keys() == {"success", "message"}
    return response.json()["message"]


def totals_are_consistent() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT count(*) FROM links_searchable s JOIN links_link l ON l.id = s.link_id"
            " WHERE s.content IS DISTINCT FROM links_content(l.title, l.original_url, l.target_url, l.destination,"
            " l.other_destinations, l.rules, l.split, l.short_code, l.custom_code)),"
            " (SELECT count(*) FROM links_link l WHERE l.custom_code IS NOT NULL AND NOT EXISTS"
            " (SELECT FROM links_code c WHERE c.link_id = l.id AND c.code = l.custom_code"
            " AND c.domain_id IS NOT DISTINCT FROM l.domain_id))"
        )
        return cursor.fetchone() == (0, 0)
