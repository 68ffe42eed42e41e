"""What operators can and cannot change on the pages of links."""

from __future__ import annotations

import pytest
from django.test import Client
from rest_framework.test import APIClient

from links.models import Link, LinkBan
from testing.accounts.admin import Operator, audit, messages_of
from tests.links.operators.admin_pages import LINK_BANS, LINKS, MakeLink


@pytest.mark.django_db(transaction=True)
def test_an_operator_disables_a_link_and_its_owner_cannot_enable_it(
    operator: Operator, api: APIClient, make_link: MakeLink, visitor: Client
) -> None:
    links = [make_link() for _ in range(3)]

    def statuses() -> list[int]:
        return [visitor.get(f"/{link['shortCode']}").status_code for link in links]

    chosen = Link.objects.filter(short_code__in=[link["shortCode"] for link in links[:2]]).order_by("pk")
    assert messages_of(operator.act(LINKS, "ban_links", chosen)) == [
        "Banned. The links stopped working on every host."
    ]
    assert statuses() == [410, 410, 302]
    assert [link.ban_reason for link in operator.rows(LINKS)] == [None, "other", "other"]
    assert api.put(f"/api/urls/{links[0]['_id']}", {"isActive": True}).status_code == 200
    assert statuses() == [410, 410, 302]
    operator.act(LINKS, "lift_bans", chosen)
    assert statuses() == [302, 302, 302]
    operator_email = "operator@example.com"
    assert sorted(audit()) == sorted(
        (operator_email, str(link), done) for link in chosen for done in ("Banned.", "Ban lifted.")
    )


@pytest.mark.django_db(transaction=True)
def test_a_link_is_disabled_on_its_own_page_too(
    operator: Operator, make_link: MakeLink, visitor: Client
) -> None:
    code = make_link(title="Before")["shortCode"]
    page = f"{LINKS}{Link.objects.get().pk}/change/"
    assert operator.send(page, act="ban_links").status_code == 302
    assert visitor.get(f"/{code}").status_code == 410
    assert operator.send(page, act="lift_bans").status_code == 302
    assert visitor.get(f"/{code}").status_code == 302
    # A POST without one of the page's actions writes nothing.
    operator.send(page, act="delete_selected", title="After", is_active="")
    operator.send(page, title="After", is_active="")
    link = Link.objects.get()
    assert (link.title, link.is_active) == ("Before", True)


@pytest.mark.django_db(transaction=True)
def test_deleting_a_link_ban_lifts_it(operator: Operator, make_link: MakeLink, visitor: Client) -> None:
    codes = [make_link()["shortCode"] for _ in range(3)]
    operator.act(LINKS, "ban_links", Link.objects.all())
    single = LinkBan.objects.get(link__short_code=codes[0])
    assert operator.see(f"{LINK_BANS}{single.pk}/change/")
    operator.send(f"{LINK_BANS}{single.pk}/delete/", post="yes")
    assert [visitor.get(f"/{code}").status_code for code in codes] == [302, 410, 410]
    operator.act(LINK_BANS, "delete_selected", LinkBan.objects.all(), post="yes")
    assert [visitor.get(f"/{code}").status_code for code in codes] == [302, 302, 302]
    assert ("operator@example.com", codes[0], "") in audit()


def test_link_bans_cannot_be_added_or_changed(operator: Operator, make_link: MakeLink) -> None:
    make_link()
    operator.act(LINKS, "ban_links", Link.objects.all())
    ban = LinkBan.objects.get()
    assert operator.get(f"/admin/{LINK_BANS}add/").status_code == 403
    assert operator.send(f"{LINK_BANS}{ban.pk}/change/", reason="Changed.").status_code == 403
    assert LinkBan.objects.get().reason == ""


def test_ban_host_action_requires_links_to_one_host(operator: Operator, make_link: MakeLink) -> None:
    make_link("https://a.example/")
    make_link("https://b.example/")
    assert messages_of(operator.act(LINKS, "ban_host", Link.objects.all())) == ["Select links to one host."]


def test_actions_on_all_links_are_refused(operator: Operator, make_link: MakeLink) -> None:
    make_link()
    response = operator.act(LINKS, "ban_links", Link.objects.all(), select_across="1")
    assert messages_of(response) == ["Select rows page by page; an action cannot apply to all pages at once."]
    assert not LinkBan.objects.exists()


def test_a_link_s_page_shows_no_password(operator: Operator, make_link: MakeLink) -> None:
    make_link(password="open sesame")
    link = Link.objects.get()
    page = operator.see(f"{LINKS}{link.pk}/change/").content.decode()
    assert "argon2" not in page
    assert str(link.password) not in page


def test_admin_cannot_add_or_delete_links(operator: Operator, make_link: MakeLink) -> None:
    make_link()
    pk = Link.objects.get().pk
    assert operator.get("/admin/links/link/add/").status_code == 403
    assert operator.send(f"{LINKS}{pk}/delete/", post="yes").status_code == 403
    operator.act(LINKS, "delete_selected", Link.objects.all(), post="yes")
    assert Link.objects.count() == 1
