"""No string changes the elements of a page."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from django.http import HttpResponse
from django.test import Client
from rest_framework.test import APIClient
from selectolax.lexbor import LexborHTMLParser

from accounts.services import NewAccount, create_account
from links.models import Link
from testing.accounts.accounts import PASSWORD
from tests.contract.naughty_strings.naughty import NAUGHTY
from tests.contract.naughty_strings.naughty_calls import (
    STORED,
    URL,
    MakeLink,
    fits,
    in_address,
    is_text,
    send,
)
from tests.contract.naughty_strings.naughty_calls import quick_hashes as quick_hashes

# A taken code makes a statement fail, after which the request continues.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def elements(response: HttpResponse) -> Counter[tuple[str, tuple[str, ...]]]:
    """The elements of a page as a browser builds it: how often each occurs with its attributes."""
    tree = LexborHTMLParser(response.content)
    counts = Counter((node.tag, tuple(sorted(node.attributes))) for node in tree.css("*"))
    # Blocks of text may be displayed with their line breaks.
    return Counter({kind: number for kind, number in counts.items() if kind != ("br", ())})


def test_the_404_page_does_not_depend_on_the_path(visitor: Client) -> None:
    plain = elements(visitor.get("/plain"))
    for text in NAUGHTY:
        for path in (f"/{in_address(text)}", f"/{in_address(text)}+", f"/plain?{in_address(text)}"):
            page = visitor.get(path)
            assert page.status_code < 500, ascii(text)
            if page.status_code == 404 and page["Content-Type"].startswith("text/html"):
                assert elements(page) == plain, ascii(text)


def test_no_string_adds_an_element_to_a_page_of_a_link(
    visitor: Client, make_link: MakeLink, api: APIClient
) -> None:
    def pages(text: str) -> list[Counter[tuple[str, tuple[str, ...]]]] | None:
        fields = {name: make(text) for name, (make, is_good) in STORED.items() if is_good(text)}
        fields |= {"originalUrl": f"{URL}?{text}#{text}"}
        created = send(api, "POST", "/api/urls", {**fields, "password": "secret"})
        if created.status_code != 201:
            return None
        link = created.json()["data"]["url"]
        locked = visitor.get(f"/{link['shortCode']}")
        api.put(f"/api/urls/{link['_id']}", {"password": None})
        shown = visitor.get(f"/{link['shortCode']}+")
        api.put(f"/api/urls/{link['_id']}", {"isActive": False})
        over = visitor.get(f"/{link['shortCode']}")
        assert [locked.status_code, shown.status_code, over.status_code] == [401, 200, 410], ascii(text)
        return [elements(response) for response in (locked, shown, over)]

    plain = pages("plain")
    tried = [page for text in NAUGHTY if (page := pages(text)) is not None]
    assert len(tried) > 300
    assert tried == [plain] * len(tried)


@pytest.fixture
def operator(db: None) -> Client:
    user = create_account(email="operator@example.com", password=PASSWORD, superuser=True).user
    client = Client(headers={"host": "sho.rt"})
    client.force_login(user)
    return client


def test_no_string_adds_an_element_to_a_page_of_the_admin(
    operator: Client, make_link: MakeLink, alice: NewAccount
) -> None:
    link = Link.objects.get(public_id=make_link(title="plain")["_id"])
    alone = elements(operator.get("/admin/links/link/?q=plain"))
    allowed = alone | elements(operator.get("/admin/links/link/"))
    page = f"/admin/links/link/{link.pk}/change/"
    plain = elements(operator.get(page))
    for text in NAUGHTY:
        if re.search("""[<>&"'`\0\ud800-\udfff]""", text):
            response = operator.get(f"/admin/links/link/?q={in_address(text)}", follow=True)
            assert response.status_code == 200, ascii(text)
            assert not is_text(text) or set(elements(response)) <= set(allowed), ascii(text)
        if fits(text, 200) and text.strip():
            Link.objects.filter(pk=link.pk).update(title=text)
            assert elements(operator.get(page)) == plain, ascii(text)
