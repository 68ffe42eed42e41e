"""Exports with sealed passwords, and their imports."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from links.models import Link
from links.transfer.sealed_passwords import Sealer
from testing.links.many import URL, imported

MakeLink = Callable[..., dict[str, Any]]
PASSPHRASE = "twelve white horses"


def sealed(client: APIClient, passphrase: Any = PASSPHRASE, **query: str) -> Any:
    path = "/api/urls/sealed-export?" + "&".join(f"{name}={value}" for name, value in query.items())
    response: Any = client.post(path, {"passphrase": passphrase})
    return response


def content(response: Any) -> str:
    assert response.status_code == 200, response.content
    return b"".join(response.streaming_content).decode()


def refusals(results: list[dict[str, Any]]) -> list[Any]:
    return [[(error["field"], error["code"]) for error in result.get("errors", [])] for result in results]


def unlocks(visitor: Client, code: str, password: str) -> HttpResponse:
    return visitor.post(f"/{code}", {"password": password}, content_type="application/json")


@pytest.mark.parametrize("file_format", ["csv", "jsonl"])
def test_a_protected_link_moves_with_its_password(
    api: APIClient, make_link: MakeLink, visitor: Client, file_format: str
) -> None:
    make_link(customCode="secret", password="open sesame")
    make_link(customCode="free")
    stored = Link.objects.get(custom_code="secret").password
    file = content(sealed(api, format=file_format))
    assert stored is not None
    assert stored not in file
    Link.objects.all().delete()

    locked = imported(api, file)
    assert refusals(locked) == [[], [("sealedPassword", "passphrase_required")]]
    Link.objects.all().delete()
    wrong = imported(api, file, passphrase="a wrong passphrase")
    assert refusals(wrong) == [[], [("sealedPassword", "wrong_passphrase")]]
    Link.objects.all().delete()
    for dry_run in (True, False):
        assert refusals(imported(api, file, dry_run=dry_run, passphrase=PASSPHRASE)) == [[], []]
    assert Link.objects.get(custom_code="secret").password == stored
    assert unlocks(visitor, "secret", "open barley").status_code == 401
    assert unlocks(visitor, "secret", "open sesame")["Location"] == URL


def test_an_export_of_passwords_is_in_the_history(api: APIClient, make_link: MakeLink) -> None:
    make_link(customCode="secret", password="open sesame")
    content(sealed(api))
    newest = api.get("/api/audit").json()["data"]["changes"][0]
    assert (newest["action"], newest["via"]) == ("workspace.passwords_exported", "api_key")
    assert (newest["before"], newest["after"]) == ({}, {})


def test_an_export_without_a_passphrase_has_no_sealed_passwords(api: APIClient, make_link: MakeLink) -> None:
    make_link(customCode="secret", password="open sesame")
    for file_format in ("csv", "jsonl"):
        response = api.get("/api/urls/export", {"format": file_format})
        assert "sealedPassword" not in b"".join(response.streaming_content).decode()
    [row] = csv.DictReader(StringIO(content(sealed(api))))
    assert row["sealedPassword"].startswith("v1.")
    assert (row["hasPassword"], row["shortUrl"]) == ("true", "http://sho.rt/secret")


@pytest.mark.slow
def test_a_sealed_password_fits_only_its_own_link_and_file(api: APIClient, make_link: MakeLink) -> None:
    for code in ("first", "second"):
        make_link(customCode=code, password=code)
    second, first = map(json.loads, content(sealed(api, format="jsonl")).splitlines())
    [other, _] = map(json.loads, content(sealed(api, format="jsonl")).splitlines())
    costly = "argon2$argon2id$v=19$m=4194304,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA"
    Link.objects.all().delete()
    rows = [
        first,
        second | {"sealedPassword": first["sealedPassword"]},
        other,
        *({**second, "sealedPassword": cell} for cell in ("x", "v2.a.b", "v1.é.b", "v1..", "v1.AAAA.AAAA")),
    ]
    results = imported(api, "\n".join(map(json.dumps, rows)), passphrase=PASSPHRASE)
    assert [codes[0][1] if codes else "" for codes in refusals(results)] == [
        *(
            "",
            "wrong_passphrase",
            "joined_exports",
            "damaged",
            "damaged",
            "damaged",
            "joined_exports",
            "joined_exports",
        )
    ]
    Link.objects.all().delete()
    costs, salt, digest = "v=19$m=19456,t=2,p=1", "c2FsdHNhbHQ", "aGFzaGhhc2hoYXNoaGFzaA"
    useless = [
        f"argon2$argon2id${costs}$YQ${digest}",
        f"argon2$argon2id${costs}${salt}$AAAA",
        f"argon2$argon2id${costs}${salt}$!!!",
        f"argon2$argon2i${costs}${salt}${digest}",
        f"argon2$argon2id$v=18$m=19456,t=2,p=1${salt}${digest}",
        f"argon2$argon2id$v=19$m=7,t=2,p=1${salt}${digest}",
    ]
    for password_hash in (costly, "md5$x$y", "", "argon2$argon2id", *useless):
        cell = Sealer(PASSPHRASE).seal(password_hash, second["shortCode"])
        assert refusals(
            imported(api, json.dumps(second | {"sealedPassword": cell}), passphrase=PASSPHRASE)
        ) == [[("sealedPassword", "damaged")]]
    assert Link.objects.count() == 0


@pytest.mark.parametrize("passphrase", [None, "", "eleven char", "x" * 257, 123456789012])
def test_a_weak_or_missing_passphrase_is_refused(api: APIClient, passphrase: Any) -> None:
    response = sealed(api, passphrase)
    assert response.status_code == 400
    assert [error["field"] for error in response.json()["errors"]] == ["passphrase"]


def test_the_commands_take_the_passphrase_from_a_file(
    alice: NewAccount, make_link: MakeLink, tmp_path: Path
) -> None:
    make_link(customCode="secret", password="open sesame")
    stored = Link.objects.get().password
    file, passphrase = tmp_path / "links.csv", tmp_path / "passphrase"
    passphrase.write_text(f"{PASSPHRASE}\n")
    options = ["--owner", alice.user.email, "--passphrase-file", str(passphrase)]
    call_command("export_links", str(file), *options, stdout=StringIO())
    Link.objects.all().delete()
    call_command("import_links", str(file), *options, "--apply", stdout=StringIO())
    assert Link.objects.get().password == stored
    passphrase.write_text("short\n")
    with pytest.raises(CommandError, match="A passphrase has from 12 to 256 characters"):
        call_command("export_links", str(file), *options, stdout=StringIO())
