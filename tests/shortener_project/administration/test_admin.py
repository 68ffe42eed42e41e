"""The admin as a whole: access control, allowed networks and escaping."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings
from selectolax.lexbor import LexborHTMLParser

from accounts.models import Change, User
from accounts.services import NewAccount, create_account
from analytics.models import ClickText, DeadLetter
from bans.models import Ban
from bans.services import ban_host
from domains.models import Domain
from links.models import Link, LinkBan
from testing.accounts.accounts import PASSWORD, account
from testing.accounts.admin import Operator
from testing.analytics.facts import Fact, record
from testing.cases import for_each

MakeLink = Callable[..., dict[str, Any]]
HOST = {"host": "sho.rt"}
LISTS = [
    *("accounts/user/", "admin/logentry/", "analytics/click/", "analytics/deadletter/", "analytics/segment/"),
    *("domains/domain/", "bans/ban/", "links/link/", "links/linkban/", "qrcodes/qrcode/"),
]


def log_in(client: Client, **fields: str) -> Any:
    client.get("/accounts/login/")
    token = client.cookies["csrftoken"].value
    return client.post("/accounts/login/?next=/admin/", {"csrfmiddlewaretoken": token, **fields})


def test_an_operator_logs_in(db: None) -> None:
    create_account(email="operator@example.com", password=PASSWORD, superuser=True)
    client = Client(enforce_csrf_checks=True, headers=HOST)
    assert log_in(client, login="operator@example.com", password=PASSWORD)["Location"] == "/admin/"
    assert client.get("/admin/").status_code == 200


@for_each("page", ["", *LISTS, "links/link/1/change/", "accounts/user/add/", "jsi18n/"])
@pytest.mark.slow
def test_non_staff_account_sees_nothing(alice: NewAccount, page: str) -> None:
    client = Client(headers=HOST)
    assert log_in(client, login="alice@example.com", password=PASSWORD).status_code == 302
    client.force_login(alice.user)
    for method in (client.get, client.post):
        response = method(f"/admin/{page}")
        assert (response.status_code, response["Location"]) == (302, f"/admin/login/?next=/admin/{page}")


def test_staff_without_permissions_see_nothing(db: None) -> None:
    user = account("clerk@example.com").user
    User.objects.filter(pk=user.pk).update(is_staff=True)
    client = Client(headers=HOST)
    client.force_login(user)
    assert [client.get(f"/admin/{page}").status_code for page in LISTS] == [403] * len(LISTS)


@pytest.mark.parametrize("page", ["", *LISTS, "accounts/user/add/", "bans/ban/add/"])
def test_every_page_opens_and_no_other_page_may_frame_it(operator: Operator, page: str) -> None:
    assert operator.see(page)["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize(
    "page",
    ["login/", "bans/ban/add/", "links/link/", "accounts/user/", "domains/domain/", "password_change/"],
)
def test_a_form_without_its_token_is_refused(operator: Operator, page: str) -> None:
    operator.get("/accounts/logout/")
    response = operator.post(
        f"/admin/{page}", {"host": "evil.example"}, headers={"origin": "https://evil.example"}
    )
    assert response.status_code == 403
    token = operator.cookies["csrftoken"].value
    foreign = {"origin": "https://evil.example"}
    response = operator.post(f"/admin/{page}", {"csrfmiddlewaretoken": token}, headers=foreign)
    assert response.status_code == 403


@pytest.mark.parametrize(
    "path", ["/admin", "/admin/", "/admin/login/", "/admin/links/link/", "/admin/nothing"]
)
def test_admin_returns_404_outside_the_allowed_networks(
    operator: Operator, settings: Settings, path: str
) -> None:
    networks = [ipaddress.ip_network("10.1.0.0/16"), ipaddress.ip_network("2001:db8::/32")]
    settings.ADMIN_ALLOWED_NETWORKS = networks
    settings.TRUSTED_PROXIES = [ipaddress.ip_network("192.0.2.0/24")]
    usual = 404 if path == "/admin/nothing" else 301 if path == "/admin" else 200
    usual = 302 if path in ("/admin", "/admin/login/") else usual
    for peer, forwarded, allowed in (
        ("10.1.2.3", "", True),
        ("::ffff:10.1.2.3", "", True),
        ("2001:db8::1", "", True),
        ("10.2.0.1", "", False),
        ("", "", False),
        ("198.51.100.1", "10.1.2.3", False),  # a forgery
        ("192.0.2.1", "10.1.2.3", True),
        ("192.0.2.1", "10.1.2.3, 198.51.100.1", False),
    ):
        response = operator.get(path, REMOTE_ADDR=peer, headers={"x-forwarded-for": forwarded})
        assert response.status_code == (usual if allowed else 404), (peer, forwarded)
        assert "admin" not in response.content.decode().lower() or allowed
    settings.ADMIN_ALLOWED_NETWORKS = []
    assert operator.get(path, REMOTE_ADDR="198.51.100.1").status_code == usual


def test_codes_that_start_with_admin_still_redirect(
    settings: Settings, make_link: MakeLink, visitor: Client
) -> None:
    make_link(customCode="administer")
    settings.ADMIN_ALLOWED_NETWORKS = [ipaddress.ip_network("10.1.0.0/16")]
    assert visitor.get("/administer", REMOTE_ADDR="198.51.100.1").status_code == 302


NAUGHTY = [
    "<script>alert(1)</script>",
    "'\"><img src=x onerror=alert(1)>",
    "</td></tr></table><svg/onload=alert(1)>",
    "</textarea><iframe srcdoc='<script>alert(1)</script>'>",
    "</title></style></script><script>alert(1)</script>",
    "\" autofocus onfocus=alert(1) x=\"",
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "{{ 7|add:7 }}{% debug %}",
    "<!--", "--><b>", "]]>", "&lt;b&gt;&#60;b&#62;",
    "<a href=javascript:alert(1)>", "<math><mi//xlink:href='data:x,<script>alert(1)</script>'>",
    "\u202e<b>\u2066", "\u200b\ufeff", "\U0001f4a9<b/>", "${7*7}#{7*7}", "'; DROP TABLE links_link; --",
    "../../etc/passwd", "%s%n%x", "\\x3cscript\\x3e", "<x" + "y" * 100,
]  # fmt: skip


def structure(operator: Operator, page: str, **query: str) -> tuple[Counter[Any], str]:
    """The elements of a page with the names of their attributes, as an HTML5 parser finds them; and its text."""
    tree = LexborHTMLParser(operator.see(page, **query).content.decode())
    elements = Counter(
        (node.tag, tuple(sorted(node.attributes))) for node in tree.css("*") if not node.tag.startswith("-")
    )
    return elements, tree.root.text() if tree.root else ""


def change_texts(text: str) -> None:
    """The history has this change only."""
    Change.objects.all().delete()
    Link.objects.update(
        title=text,
        description=text,
        tags=[text],
        tag_keys=[text],
        utm={"source": text},
        custom_code=text[:50],
    )


@pytest.mark.slow
def test_stored_values_are_escaped_in_admin_pages(
    operator: Operator, alice: NewAccount, make_link: MakeLink, stranger: NewAccount
) -> None:
    make_link(domainId=None, title="-", description="-", tags=["-"], customCode="Summer", utm={"source": "-"})
    link = Link.objects.get()
    domain = Domain.objects.create(owner=alice.workspace, domain="b.example", host="b.example", token="-")
    ban = ban_host(host="evil.example", reason="-")
    operator.act("links/link/", "ban_links", [link])
    operator.see("")  # consumes the messages of the actions above
    DeadLetter.objects.create(record=b"", reason="-")
    record(str(link.public_id), [Fact("2026-03-01T10:00Z", referrer="https://a.example/", reason="-")])
    pages: list[tuple[str, dict[str, str]]] = [
        ("", {}),
        ("links/link/", {}),
        (f"links/link/{link.pk}/change/", {}),
        (f"links/link/{link.pk}/history/", {}),
        ("bans/ban/", {}),
        (f"bans/ban/{ban.pk}/change/", {}),
        (f"bans/ban/{ban.pk}/delete/", {}),
        ("links/linkban/", {}),
        (f"links/linkban/{link.ban.pk}/change/", {}),
        (f"links/linkban/{link.ban.pk}/delete/", {}),
        ("accounts/user/", {}),
        (f"accounts/user/{alice.user.pk}/change/", {}),
        ("domains/domain/", {}),
        (f"domains/domain/{domain.pk}/change/", {}),
        ("analytics/click/", {"q": str(link.public_id)}),
        ("analytics/deadletter/", {}),
        ("admin/logentry/", {}),
    ]
    change_texts("x")
    harmless = {page: structure(operator, page, **query)[0] for page, query in pages}
    for text in NAUGHTY:
        change_texts(text)
        User.objects.filter(pk=alice.user.pk).update(first_name=text[:100], last_name=text[:100])
        Domain.objects.update(
            domain=text, subdomain=text, host=text, root_url=text, not_found_url=text, expired_url=text
        )
        Ban.objects.update(reason=text)
        LinkBan.objects.update(reason=text)
        DeadLetter.objects.update(reason=text)
        ClickText.objects.update(text=text)
        for page, query in pages:
            elements, shown = structure(operator, page, **query)
            assert elements == harmless[page], (text, page)
            if page == "links/link/":
                assert text[:50] in shown


@pytest.mark.slow
def test_query_values_are_escaped_in_admin_pages(operator: Operator) -> None:
    harmless = {page: structure(operator, page, q="nothing")[0] for page in LISTS}
    for text in NAUGHTY:
        for page in LISTS:
            if not page.endswith(("deadletter/", "segment/")):
                assert structure(operator, page, q=text)[0] == harmless[page], (text, page)
