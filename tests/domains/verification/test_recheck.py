from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import dns.rcode
import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import F
from django.test import Client
from rest_framework.test import APIClient

from domains import verification
from domains.models import Domain
from testing.domains.dns_server import DnsServer
from testing.domains.domains import publish, state, status_of, verify
from testing.threads import at_once

HOST = "go.brand.example"

pytestmark = pytest.mark.django_db(transaction=True)

Claim = Callable[..., dict[str, Any]]


def pass_hours(hours: int) -> None:
    by = timedelta(hours=hours)
    Domain.objects.update(recheck_at=F("recheck_at") - by, claimed_until=F("claimed_until") - by)


def next_day() -> None:
    pass_hours(24)
    call_command("recheck_domains", "--once")


def test_an_active_domain_is_checked_once_a_day(active: dict[str, Any], dns: DnsServer) -> None:
    pass_hours(23)
    assert verification.recheck_due() == 0
    assert dns.queries == []
    pass_hours(1)
    assert verification.recheck_due() == 1
    assert verification.recheck_due() == 0
    assert len(dns.queries) == 2
    pass_hours(23)
    assert verification.recheck_due() == 0
    pass_hours(1)
    assert verification.recheck_due() == 1
    assert state() == ("active", 0)


def test_the_third_consecutive_failure_deactivates_the_domain(
    api: APIClient,
    active: dict[str, Any],
    dns: DnsServer,
    make_link: Callable[..., dict[str, Any]],
    visitor: Client,
    caplog: pytest.LogCaptureFixture,
) -> None:
    link = make_link(domainId=active["_id"])

    def follow() -> int:
        return visitor.get(f"/{link['shortCode']}", headers={"host": HOST}).status_code

    dns.remove(HOST, "CNAME")
    next_day()
    next_day()
    assert (state(), follow()) == (("active", 2), 302)
    next_day()
    assert (state(), follow()) == (("inactive", 3), 410)
    assert caplog.messages[-1] == (
        f"The DNS check of {HOST} failed. Its status is inactive: CNAME {HOST} is []."
    )
    assert (
        api.post("/api/urls", {"originalUrl": "https://a.example", "domainId": active["_id"]}).status_code
        == 409
    )
    dns.queries.clear()
    publish(dns, active)
    next_day()
    assert (state(), dns.queries) == (("inactive", 3), [])
    assert verify(api, active).status_code == 200
    assert (state(), follow()) == (("active", 0), 302)


def test_a_success_resets_the_failure_count(active: dict[str, Any], dns: DnsServer) -> None:
    for _ in range(3):
        dns.remove(HOST, "CNAME")
        next_day()
        next_day()
        assert state() == ("active", 2)
        publish(dns, active)
        next_day()
        assert state() == ("active", 0)


def test_a_removed_proof_fails_the_check(api: APIClient, active: dict[str, Any], dns: DnsServer) -> None:
    dns.remove(f"_shortener-challenge.{HOST}", "TXT")
    for _ in range(3):
        next_day()
    assert status_of(api, active) == "inactive"


@pytest.mark.parametrize("trouble", [{"rcode": dns.rcode.SERVFAIL}, {"rcode": dns.rcode.REFUSED}])
def test_a_resolver_failure_is_retried_in_an_hour_and_does_not_count(
    active: dict[str, Any], dns: DnsServer, trouble: dict[str, Any]
) -> None:
    for name, value in trouble.items():
        setattr(dns, name, value)
    for _ in range(4):
        next_day()
    assert state() == ("active", 0)
    dns.rcode = None
    pass_hours(1)
    assert verification.recheck_due() == 1


def test_pending_and_inactive_domains_are_not_checked(claim: Claim, dns: DnsServer) -> None:
    claim()
    claim("other.brand.example")
    Domain.objects.filter(host="other.brand.example").update(status="inactive")
    pass_hours(48)
    assert verification.recheck_due() == 0
    assert dns.queries == []


def test_concurrent_hosts_check_each_domain_once(
    api: APIClient, dns: DnsServer, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "LEASE_DUE", verification.LEASE_DUE.replace("LIMIT 20", "LIMIT 3"))
    for number in range(20):
        publish(dns, claim(f"go{number}.brand.example"))
    Domain.objects.update(status="active")
    dns.remove("go7.brand.example", "CNAME")
    assert sum(at_once([verification.recheck_due] * 4)) == 20
    names = [f"go{number}.brand.example" for number in range(20)]
    # Where the record is missing, its name may have been extended by the domain.
    doubled = "go7.brand.example.brand.example"
    assert sorted(name for name, kind, _ in dns.queries if kind == "CNAME") == sorted([*names, doubled])
    assert Domain.objects.exclude(failed_checks=0).get().host == "go7.brand.example"


def test_the_lease_of_a_dead_host_expires(active: dict[str, Any], dns: DnsServer) -> None:
    pass_hours(24)
    assert len(verification.lease_due()) == 1
    assert verification.recheck_due() == 0
    pass_hours(1)
    assert verification.recheck_due() == 1


@pytest.mark.parametrize("meanwhile", ["verified", "deleted"])
def test_a_concurrent_change_by_the_owner_is_kept(
    api: APIClient, active: dict[str, Any], dns: DnsServer, meanwhile: str
) -> None:
    Domain.objects.update(failed_checks=2)
    dns.remove(HOST, "CNAME")
    pass_hours(24)
    leased = verification.lease_due()
    looks = verification.examine_all(leased)
    publish(dns, active)
    if meanwhile == "verified":
        assert verify(api, active).status_code == 200
    else:
        assert api.delete(f"/api/domains/{active['_id']}").status_code == 200
    for domain, checks in zip(leased, looks, strict=True):
        verification.record_result(domain, checks)
    assert list(Domain.objects.values_list("status", "failed_checks")) == (
        [("active", 0)] if meanwhile == "verified" else []
    )


def test_no_transaction_is_open_during_dns_queries(
    active: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    in_transaction = []
    examine_all = verification.examine_all

    def examine_without_transaction(domains: Any) -> Any:
        in_transaction.append(connection.in_atomic_block)
        return examine_all(domains)

    monkeypatch.setattr(verification, "examine_all", examine_without_transaction)
    next_day()
    assert in_transaction == [False]


def test_lapsed_claims_are_deleted(
    api: APIClient, strange_api: APIClient, dns: DnsServer, claim: Claim
) -> None:
    claim("lapsing.brand.example")
    claim("lapsing.brand.example", strange_api)
    pass_hours(24 * 6)
    kept = claim("young.brand.example")
    proven = claim("proven.brand.example")
    publish(dns, proven)
    assert verify(api, proven).status_code == 200
    pass_hours(24)
    call_command("recheck_domains", "--once")
    assert set(Domain.objects.values_list("host", flat=True)) == {kept["fullDomain"], proven["fullDomain"]}
