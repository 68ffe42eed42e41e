"""Operators ban hosts and accounts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from accounts.services import NewAccount
from bans.models import Ban
from links import operators
from links.models import Link
from shortener_project.running.preparation import connection_parameters
from testing.accounts.admin import Operator, audit
from testing.links.many import create_many

MakeLink = Callable[..., dict[str, Any]]

LINKS = "links/link/"
BANS = "bans/ban/"


def submit(operator: Operator, *, host: str = "", owner: str = "", reason: str = "", **buttons: str) -> Any:
    """Submits the form and returns the page that asks for confirmation."""
    page = operator.send(f"{BANS}add/", host=host, owner=owner, reason=reason, **buttons)
    assert page.status_code == 200
    return page


def confirm(operator: Operator, **fields: str) -> Any:
    """Submits the form, and then the confirmation as the browser does."""
    return operator.send(f"{BANS}add/", **hidden_fields(submit(operator, **fields)))


def hidden_fields(page: Any) -> dict[str, str]:
    inputs = HTMLParser(page.content.decode()).css("#content-main input[type=hidden]")
    fields = {node.attributes["name"]: node.attributes["value"] or "" for node in inputs}
    return {name: value for name, value in fields.items() if name and name != "csrfmiddlewaretoken"}


def sentence(page: Any) -> str:
    """The text of the confirmation."""
    [node] = HTMLParser(page.content.decode()).css("#content-main > p")
    return " ".join(node.text().split())


@pytest.mark.parametrize("bans", [1, 3])
def test_the_list_of_bans_takes_as_many_queries_however_long_it_is(
    operator: Operator, alice: NewAccount, bans: int
) -> None:
    for number in range(bans):
        confirm(operator, host=f"evil{number}.example")
    confirm(operator, owner=str(alice.user.pk))
    assert len(operator.rows(BANS)) == bans + 1
    assert operator.queries(BANS) == 4
    assert operator.queries(BANS, q="evil") == 4
    assert operator.queries(f"{BANS}add/") == 2


@pytest.mark.django_db(transaction=True)
def test_a_host_is_banned_with_all_its_links(
    operator: Operator, api: APIClient, make_link: MakeLink, visitor: Client
) -> None:
    link = make_link("https://www.evil.example/a")
    response = operator.act(LINKS, "ban_host", Link.objects.all())
    assert response["Location"] == "/admin/bans/ban/add/?host=www.evil.example"
    assert operator.get(response["Location"]).context["adminform"].form["host"].value() == "www.evil.example"
    assert not Ban.objects.exists()
    saved = confirm(operator, host="https://Evil.example/x", reason="Phishing.")
    assert saved["Location"] == "/admin/bans/ban/"
    ban = Ban.objects.get()
    assert (ban.host, ban.reason) == ("evil.example", "Phishing.")
    assert visitor.get(f"/{link['shortCode']}").status_code == 410
    assert api.post("/api/urls", {"originalUrl": "https://evil.example/"}).status_code == 400
    assert operator.see(f"{BANS}{ban.pk}/change/")
    operator.send(f"{BANS}{ban.pk}/delete/", post="yes")
    assert visitor.get(f"/{link['shortCode']}").status_code == 302
    operator_email = "operator@example.com"
    assert audit() == [(operator_email, "evil.example", "Added."), (operator_email, "evil.example", "")]


@pytest.mark.django_db(transaction=True)
def test_an_account_is_banned_with_all_its_links_and_bans_are_lifted_together(
    operator: Operator, alice: NewAccount, make_link: MakeLink, visitor: Client
) -> None:
    link = make_link()
    confirm(operator, owner=str(alice.user.pk))
    confirm(operator, host="example.com")
    assert visitor.get(f"/{link['shortCode']}").status_code == 410
    operator.act(BANS, "delete_selected", Ban.objects.all(), post="yes")
    assert visitor.get(f"/{link['shortCode']}").status_code == 302


@pytest.mark.parametrize(
    "fields",
    [
        {"host": "", "owner": ""},
        {"host": "com", "owner": ""},
        {"host": "a b", "owner": ""},
        {"host": "a\x00b.example", "owner": ""},
        {"host": "x" * 300 + ".example", "owner": ""},
        {"host": "x" * 9000, "owner": ""},
        {"host": "*", "owner": ""},
        {"host": "*.banned.example", "owner": ""},
        {"host": "banned.example", "owner": ""},
        {"host": "Banned.Example", "owner": ""},
        {"host": "evil.example", "owner": "alice"},
        {"host": "", "owner": "0"},
        {"host": "", "owner": "nobody"},
        {"host": "", "owner": "9" * 30},
    ],
)
def test_an_invalid_ban_shows_an_error(operator: Operator, alice: NewAccount, fields: dict[str, str]) -> None:
    Ban.objects.create(host="banned.example")
    owner = str(alice.user.pk) if fields["owner"] == "alice" else fields["owner"]
    response = operator.send(f"{BANS}add/", **{**fields, "owner": owner}, reason="")
    assert (response.status_code, len(response.context["errors"])) == (200, 1)
    assert Ban.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_the_form_says_what_a_ban_of_a_host_affects_before_it_is_saved(
    operator: Operator, api: APIClient, strange_api: APIClient, make_link: MakeLink, visitor: Client
) -> None:
    link = make_link("https://evil.example/a")
    make_link("https://WWW.evil.example.:8443/b")
    make_link("https://notevil.example/evil.example")
    strange_api.post("/api/urls", {"originalUrl": "https://a.b.evil.example/"})
    page = submit(operator, host="https://user@*.Evil.example:8080/x", reason="Phishing.")
    assert sentence(page) == (
        "This bans evil.example and every host below it: 3 links of 2 accounts. Nothing is banned yet."
    )
    assert not Ban.objects.exists()
    assert visitor.get(f"/{link['shortCode']}").status_code == 302
    assert hidden_fields(page) == {
        "host": "evil.example",
        "owner": "",
        "reason": "Phishing.",
        "confirmed": "evil.example",
    }
    assert operator.send(f"{BANS}add/", **hidden_fields(page))["Location"] == f"/admin/{BANS}"
    assert Ban.objects.get().host == "evil.example"
    assert visitor.get(f"/{link['shortCode']}").status_code == 410


@pytest.mark.django_db(transaction=True)
def test_the_form_says_what_a_ban_of_an_account_affects(
    operator: Operator, alice: NewAccount, make_link: MakeLink
) -> None:
    make_link()
    page = submit(operator, owner=str(alice.user.pk), _addanother="1")
    assert (
        sentence(page)
        == "This bans all links of alice@example.com: 1 link of 1 account. Nothing is banned yet."
    )
    saved = operator.send(f"{BANS}add/", **hidden_fields(page))
    assert saved["Location"] == f"/admin/{BANS}add/"
    assert Ban.objects.get().owner == alice.workspace


@pytest.mark.django_db(transaction=True)
def test_a_confirmation_is_valid_for_its_own_host_only(operator: Operator) -> None:
    page = submit(operator, host="evil.example")
    changed = {**hidden_fields(page), "host": "example"}
    assert len(operator.send(f"{BANS}add/", **changed).context["errors"]) == 1
    changed = {**hidden_fields(page), "host": "good.example"}
    assert "good.example" in sentence(operator.send(f"{BANS}add/", **changed))
    assert not Ban.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("newer", [0, 10])
def test_the_count_of_links_to_a_host_stops_at_a_limit(
    operator: Operator, api: APIClient, monkeypatch: pytest.MonkeyPatch, newer: int
) -> None:
    monkeypatch.setattr(operators, "COUNT_LIMIT", 20)
    monkeypatch.setattr(operators, "REACH", 25)
    create_many(
        api,
        [
            *({"originalUrl": f"https://n{number}.evil.example/"} for number in range(21)),
            *({"originalUrl": f"https://good.example/{number}"} for number in range(newer)),
        ],
    )
    assert "more than 20 links of at least 1 account." in sentence(submit(operator, host="evil.example"))
    assert "0 links of 0 accounts." in sentence(submit(operator, host="vil.example"))


@pytest.mark.django_db(transaction=True)
def test_a_host_with_too_many_links_to_count_can_be_banned(
    operator: Operator, make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operators, "COUNT_MILLISECONDS", 100)
    make_link("https://evil.example/")
    # A lock takes the place of a table that takes too long to read.
    with psycopg.connect(**connection_parameters()) as other:
        other.execute("LOCK TABLE links_link IN ACCESS EXCLUSIVE MODE")
        page = submit(operator, host="evil.example")
    assert "there are too many links to count in time." in sentence(page)
    assert operator.send(f"{BANS}add/", **hidden_fields(page))["Location"] == f"/admin/{BANS}"
    assert Ban.objects.get().host == "evil.example"


@pytest.mark.django_db(transaction=True)
def test_a_ban_is_confirmed_with_a_fixed_number_of_queries(operator: Operator, make_link: MakeLink) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            submit(operator, host="evil.example")
        return len(captured)

    make_link("https://evil.example/")
    few = queries()
    for number in range(5):
        make_link(f"https://evil.example/{number}")
    assert queries() == few


def test_owners_find_a_ban_and_its_end_in_their_history(
    operator: Operator, api: APIClient, alice: NewAccount, make_link: MakeLink
) -> None:
    banned = make_link(originalUrl="https://www.evil.example/", customCode="direct")
    branched = make_link(
        rules=[{"url": "https://evil.example/", "conditions": [{"type": "device", "values": ["mobile"]}]}]
    )
    make_link(originalUrl="https://notevil.example/")
    confirm(operator, host="evil.example")
    confirm(operator, owner=str(alice.user.pk))
    for ban in Ban.objects.order_by("pk"):
        operator.act(BANS, "delete_selected", [ban], post="yes")
    shown = api.get("/api/audit").json()["data"]["changes"]
    links = {banned["_id"], branched["_id"]}
    assert [(change["action"], change["actor"]) for change in shown[:6]] == [
        *[("workspace.unbanned", None)],
        *[("link.unbanned", None)] * 2,
        *[("workspace.banned", None)],
        *[("link.banned", None)] * 2,
    ]
    assert {shown[at]["objectId"] for at in (1, 2)} == {shown[at]["objectId"] for at in (4, 5)} == links
