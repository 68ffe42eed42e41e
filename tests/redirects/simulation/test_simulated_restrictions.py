"""A simulated visit explains bans, domains, dates and click limits."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.services import NewAccount
from bans.models import Ban
from domains.models import DomainStatus
from links.models import Link
from links.operators import ban_link
from testing.redirects.following import CUSTOM_HOST, FUTURE, PAST, custom_domain
from testing.visitors.addresses import AMERICAN, BRITISH
from testing.visitors.agents import GOOGLEBOT
from tests.redirects.simulation.simulated import DESTINATION, FOLLOWED, MakeLink, Simulate, detail, last


@pytest.mark.parametrize(
    ("reason", "status", "code"),
    [("Spam.", 410, "disabled"), ("Legal", 451, "legal"), ("\tlegal\n", 451, "legal")],
)
@pytest.mark.parametrize("subject", ["the link", "all links of the account", f"the host of {DESTINATION}"])
def test_a_ban_is_explained(
    alice: NewAccount,
    make_link: MakeLink,
    simulate: Simulate,
    *,
    subject: str,
    reason: str,
    status: int,
    code: str,
) -> None:
    link = make_link(DESTINATION)
    if subject == "the link":
        ban_link(link=Link.objects.get(), reason=reason)
    elif "account" in subject:
        Ban.objects.create(owner=alice.workspace, reason=reason)
    else:
        Ban.objects.create(host="example.com", reason=reason)

    simulation = simulate(link)

    why = " for legal reasons" if code == "legal" else ""
    assert last(simulation) == ("active", False, f"An operator has banned {subject}{why}.")
    assert (simulation["outcome"]["status"], simulation["outcome"]["reason"]) == (status, code)


def test_a_link_on_an_inactive_domain_is_explained(
    alice: NewAccount, make_link: MakeLink, simulate: Simulate
) -> None:
    domain = custom_domain(alice)
    link = make_link(domainId=str(domain.public_id))
    assert simulate(link)["outcome"]["status"] == 302
    domain.status = DomainStatus.INACTIVE
    domain.save()

    inactive = simulate(link)
    domain.status = DomainStatus.PENDING
    domain.save()
    pending = simulate(link)

    assert last(inactive) == (
        "active",
        False,
        f"The domain {CUSTOM_HOST} is inactive: its DNS records do not verify it.",
    )
    assert (inactive["outcome"]["status"], inactive["outcome"]["reason"]) == (410, "disabled")
    assert last(pending)[:2] == ("found", False)
    assert "the domain is pending in this account" in last(pending)[2]
    assert (pending["outcome"]["status"], pending["outcome"]["reason"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("fields", "check", "status", "reason", "location"),
    [
        ({"startsAt": FUTURE}, "started", 404, "not_started", None),
        ({"startsAt": FUTURE, "notStartedUrl": "https://a.example/"}, "started", 302, "not_started", "https://a.example/"),
        ({"expiresAt": PAST, "expiredUrl": "https://b.example/"}, "not_expired", 302, "expired", "https://b.example/"),
    ],
)  # fmt: skip
def test_a_visit_before_the_start_or_after_the_end_is_explained(
    make_link: MakeLink,
    simulate: Simulate,
    *,
    fields: dict[str, Any],
    check: str,
    status: int,
    reason: str,
    location: str | None,
) -> None:
    simulation = simulate(make_link(**fields))

    assert last(simulation)[:2] == (check, False)
    assert simulation["outcome"] == {
        **FOLLOWED,
        "status": status,
        "reason": reason,
        "location": location,
        "counted": False,
        "kind": "refused",
    }


def test_a_visit_that_does_not_count_gets_no_destination_of_a_capped_link(
    make_link: MakeLink, simulate: Simulate
) -> None:
    link = make_link(restrictions={"maxClicks": 5})

    for visit, kind in (
        ({"method": "HEAD"}, "head"),
        ({"userAgent": GOOGLEBOT}, "crawler"),
        ({"userAgent": ""}, "crawler"),
    ):
        simulation = simulate(link, **visit)
        assert detail(simulation, "claim") == "The visit claims no click, because it would not count as one."
        assert simulation["outcome"] == {
            **FOLLOWED, "status": 200, "location": None, "counted": False, "kind": kind
        }  # fmt: skip


def test_the_clicks_of_the_visitor_are_explained(
    make_link: MakeLink, simulate: Simulate, visitor: Client
) -> None:
    link = make_link(restrictions={"maxClicks": 9, "maxClicksPerVisitor": 1})
    assert visitor.get(f"/{link['shortCode']}", REMOTE_ADDR=AMERICAN).status_code == 302

    same, other, unknown = (
        simulate(link, **visit) for visit in ({"address": AMERICAN}, {"address": BRITISH}, {})
    )

    assert last(same) == (
        "claim", False, f"The address {AMERICAN} has used up its clicks. The limit is 1 per visitor."
    )  # fmt: skip
    assert (same["outcome"]["status"], same["outcome"]["reason"]) == (403, "visitor_limit_reached")
    assert detail(other, "claim") == (
        f"The visit claims click 2 of 9; the address {BRITISH} has not used up its clicks, "
        "of which each visitor has 1."
    )
    assert detail(unknown, "claim") == (
        "The visit claims click 2 of 9; an unknown address has not used up its clicks, of which each visitor has 1."
    )
    assert [other["outcome"], unknown["outcome"]] == [{**FOLLOWED}] * 2
