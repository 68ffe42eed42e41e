"""Operators list domains and check their DNS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dns import rcode as dns_rcode
from rest_framework.test import APIClient

from domains.models import Domain
from testing.accounts.admin import Operator, audit, messages_of
from testing.domains.dns_server import DnsServer
from testing.domains.domains import publish, state

DOMAINS = "domains/domain/"
HOST = "go.brand.example"

Claim = Callable[..., dict[str, Any]]

pytestmark = pytest.mark.django_db(transaction=True)


def recheck(operator: Operator) -> list[str]:
    return messages_of(operator.act(DOMAINS, "recheck", Domain.objects.all()))


@pytest.mark.parametrize("domains", [1, 3])
def test_a_list_takes_as_many_queries_however_long_it_is(
    operator: Operator, claim: Claim, domains: int
) -> None:
    for number in range(domains):
        claim(f"go{number}.brand.example")
    assert len(operator.rows(DOMAINS)) == domains
    assert operator.queries(DOMAINS) == 4
    assert operator.queries(DOMAINS, q="brand", status__exact="pending", failing="1") == 4
    assert operator.queries(f"{DOMAINS}{Domain.objects.latest('pk').pk}/change/") == 5


def test_domains_are_found_by_name_owner_and_state(operator: Operator, claim: Claim) -> None:
    claim("a.brand.example")
    claim("b.brand.example")
    Domain.objects.filter(host="b.brand.example").update(status="active", failed_checks=1)

    def hosts(**query: str) -> list[str]:
        return [domain.host for domain in operator.rows(DOMAINS, **query)]

    assert hosts(q="a.brand") == ["a.brand.example"]
    assert hosts(q="alice@example.com") == ["b.brand.example", "a.brand.example"]
    assert hosts(status__exact="active") == hosts(failing="1") == ["b.brand.example"]


def test_recheck_action_runs_the_check_and_shows_its_result(
    operator: Operator, active: dict[str, Any], dns: DnsServer
) -> None:
    token = next(record["value"] for record in active["dnsRecords"] if record["type"] == "TXT")
    assert recheck(operator) == [
        f"{HOST} is active. TXT _shortener-challenge.{HOST}: ['{token}']",
        f"{HOST} is active. CNAME {HOST}: ['sho.rt']",
    ]
    assert state() == ("active", 0)
    assert audit() == [("operator@example.com", HOST, "DNS checked: active.")]


def test_third_consecutive_failure_deactivates_the_domain(
    operator: Operator, active: dict[str, Any], dns: DnsServer
) -> None:
    dns.remove(HOST, "CNAME")
    for looks in (1, 2):
        recheck(operator)
        assert state() == ("active", looks)
    *_, last = recheck(operator)
    assert last.startswith(f"{HOST} is inactive. CNAME {HOST}: []. The record is missing: add it")
    assert state() == ("inactive", 3)


def test_a_successful_check_resets_the_failure_count(
    operator: Operator, active: dict[str, Any], dns: DnsServer
) -> None:
    Domain.objects.update(failed_checks=2)
    recheck(operator)
    assert state() == ("active", 0)


def test_a_resolver_failure_changes_no_status(
    operator: Operator, active: dict[str, Any], dns: DnsServer
) -> None:
    dns.rcode = dns_rcode.SERVFAIL
    for _ in range(3):
        *_, last = recheck(operator)
    assert "The resolver failed" in last
    assert state() == ("active", 0)


def test_checking_a_pending_domain_changes_nothing(
    operator: Operator, api: APIClient, dns: DnsServer, claim: Claim
) -> None:
    publish(dns, claim())
    assert len(recheck(operator)) == 2
    assert state() == ("pending", 0)


def test_number_of_domains_per_check_is_limited(operator: Operator, claim: Claim, dns: DnsServer) -> None:
    for number in range(6):
        claim(f"go{number}.brand.example")
    assert recheck(operator) == ["Select at most 5 domains."]
    assert dns.queries == []


def test_a_domain_can_be_checked_on_its_detail_page(
    operator: Operator, active: dict[str, Any], dns: DnsServer
) -> None:
    page = f"{DOMAINS}{Domain.objects.get().pk}/change/"
    assert len(messages_of(operator.send(page, act="recheck"))) == 2
    operator.send(page, status="inactive", host="other.example")
    assert (Domain.objects.get().host, *state()) == (HOST, "active", 0)
