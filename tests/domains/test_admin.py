"""Domains as operators see them, and look at their DNS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dns import rcode as dns_rcode
from rest_framework.test import APIClient

from domains.models import Domain
from tests.admin import Operator, audit, told
from tests.domains.conftest import publish
from tests.domains.dns_server import DnsServer

DOMAINS = "domains/domain/"
HOST = "go.brand.example"

Claim = Callable[..., dict[str, Any]]

pytestmark = pytest.mark.django_db(transaction=True)


def recheck(operator: Operator) -> list[str]:
    return told(operator.act(DOMAINS, "recheck", Domain.objects.all()))


def state() -> tuple[str, int]:
    domain = Domain.objects.get()
    return domain.status, domain.failed_checks


@pytest.mark.parametrize("domains", [1, 3])
def test_a_list_takes_as_many_queries_however_long_it_is(
    operator: Operator, claim: Claim, domains: int
) -> None:
    for number in range(domains):
        claim(f"go{number}.brand.example")
    assert len(operator.rows(DOMAINS)) == domains
    assert operator.queries(DOMAINS) == 4
    assert operator.queries(DOMAINS, q="brand", status__exact="pending", failing="1") == 4
    assert operator.queries(f"{DOMAINS}{Domain.objects.latest('pk').pk}/change/") == 4


def test_domains_are_found_by_name_owner_and_state(operator: Operator, claim: Claim) -> None:
    claim("a.brand.example")
    claim("b.brand.example")
    Domain.objects.filter(host="b.brand.example").update(status="active", failed_checks=1)

    def hosts(**query: str) -> list[str]:
        return [domain.host for domain in operator.rows(DOMAINS, **query)]

    assert hosts(q="a.brand") == ["a.brand.example"]
    assert hosts(q="alice@example.com") == ["b.brand.example", "a.brand.example"]
    assert hosts(status__exact="active") == hosts(failing="1") == ["b.brand.example"]


def test_dns_is_looked_at_at_once_and_what_it_says_is_told(
    operator: Operator, active: dict[str, Any], dns: DnsServer
) -> None:
    token = next(record["value"] for record in active["dnsRecords"] if record["type"] == "TXT")
    assert recheck(operator) == [
        f"{HOST} is active. TXT _shortener-challenge.{HOST}: ['{token}']",
        f"{HOST} is active. CNAME {HOST}: ['sho.rt']",
    ]
    assert state() == ("active", 0)
    assert audit() == [("operator@example.com", HOST, "Looked at: active.")]


def test_the_third_look_in_a_row_that_fails_switches_a_domain_off(
    operator: Operator, active: dict[str, Any], dns: DnsServer
) -> None:
    dns.remove(HOST, "CNAME")
    for looks in (1, 2):
        recheck(operator)
        assert state() == ("active", looks)
    *_, last = recheck(operator)
    assert last.startswith(f"{HOST} is inactive. CNAME {HOST}: []. The record is missing: add it")
    assert state() == ("inactive", 3)


def test_a_look_that_succeeds_forgives(operator: Operator, active: dict[str, Any], dns: DnsServer) -> None:
    Domain.objects.update(failed_checks=2)
    recheck(operator)
    assert state() == ("active", 0)


def test_a_resolver_in_trouble_decides_nothing(
    operator: Operator, active: dict[str, Any], dns: DnsServer
) -> None:
    dns.rcode = dns_rcode.SERVFAIL
    for _ in range(3):
        *_, last = recheck(operator)
    assert "The resolver failed" in last
    assert state() == ("active", 0)


def test_what_is_not_active_is_only_looked_at(
    operator: Operator, api: APIClient, dns: DnsServer, claim: Claim
) -> None:
    publish(dns, claim())
    assert len(recheck(operator)) == 2
    assert state() == ("pending", 0)


def test_few_are_looked_at_at_a_time(operator: Operator, claim: Claim, dns: DnsServer) -> None:
    for number in range(6):
        claim(f"go{number}.brand.example")
    assert recheck(operator) == ["At most 5 at a time."]
    assert dns.asked == []


def test_a_domain_is_looked_at_on_its_own_page_too(
    operator: Operator, active: dict[str, Any], dns: DnsServer
) -> None:
    page = f"{DOMAINS}{Domain.objects.get().pk}/change/"
    assert len(told(operator.send(page, act="recheck"))) == 2
    operator.send(page, status="inactive", host="other.example")
    assert (Domain.objects.get().host, *state()) == (HOST, "active", 0)
