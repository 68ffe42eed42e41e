"""The password of a new link is stored as a hash alone, and returned nowhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.hashers import check_password
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from links.models import Link
from testing.links.calls import whole
from tests.links.creation import URL, refused


@pytest.mark.parametrize("password", ["x", "x" * 128, " ", "\N{GRINNING FACE}" * 128, "p\u00e4ss w\u00f6rd"])
@pytest.mark.usual_passwords
def test_a_password_is_kept_as_an_argon2_hash_alone(
    api: APIClient, make_link: Callable[..., Any], password: str
) -> None:
    link = make_link(password=password)
    hashed = Link.objects.get(public_id=link["_id"]).password
    assert hashed is not None
    assert hashed.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    assert check_password(password, hashed)
    assert not check_password(password + "x", hashed)
    assert whole(api, link)["hasPassword"] is True


def test_a_password_is_never_returned_nor_stored_in_plain(api: APIClient, visitor: Client) -> None:
    secret = "Tr0ub4dor-and-3"
    created = api.post("/api/urls", {"originalUrl": URL, "password": secret, "title": "t"})
    link = created.json()["data"]["url"]
    hashed = Link.objects.get(public_id=link["_id"]).password or ""
    responses = [
        created,
        api.get(f"/api/urls/{link['_id']}"),
        api.put(f"/api/urls/{link['_id']}", {"title": "u", "password": secret}),
        api.get("/api/urls"),
        api.get("/api/urls/stats"),
        visitor.get("/" + link["shortCode"]),
        visitor.get("/" + link["shortCode"], headers={"accept": "application/json"}),
    ]
    assert [response.status_code for response in responses] == [201, 200, 200, 200, 200, 401, 401]
    for response in responses:
        for revealing in (secret, "argon2", hashed.rpartition("$")[2]):
            assert revealing.encode() not in response.content
        if response["Content-Type"] == "application/json":
            assert '"password":' not in json.dumps(response.json())
    with connection.cursor() as cursor:
        cursor.execute("SELECT l::text FROM links_link l")
        assert secret not in str(cursor.fetchall())


@pytest.mark.parametrize("secret", ["Tr0ub4dor-and-3" * 9, ["Tr0ub4dor-and-3"], {"Tr0ub4dor-and-3": 1}])
def test_a_refused_password_is_not_echoed(api: APIClient, secret: object) -> None:
    response = refused(api, {"originalUrl": URL, "password": secret}, 400)
    assert b"Tr0ub4dor" not in response.content
