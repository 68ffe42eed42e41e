"""Every route with every role: the expected status of each cell. A new route needs a row."""

from __future__ import annotations

from typing import Any

from accounts.models import EndReason, Member, Session, User
from accounts.rights import Role
from accounts.sessions.lifecycle import end
from testing.accounts.accounts import bearer_client, key_client
from testing.cases import for_each
from testing.contract.every_route import ROUTES, UNKNOWN_ID, WITH_A_TOKEN_ONLY
from tests.accounts.every_role import (
    FOR_EVERY_ROW,
    OWNER,
    TABLE,
    VIEWER,
    Site,
    join,
    outcome,
)
from tests.accounts.every_role import site as site


def test_every_route_has_a_row() -> None:
    assert {f"{method} {route.path}" for route in ROUTES for method in route.methods} == set(TABLE)


@FOR_EVERY_ROW
def test_each_role_gets_the_expected_status(name: str, site: Site) -> None:
    row = TABLE[name]
    site = join(site, VIEWER)
    for role in Role:
        Member.objects.filter(user=site.member.user, workspace__name="Team").update(role=role)
        for kind, client in site.clients.items():
            response = site.call(client, name)
            if kind == "key" and name.split()[1] in WITH_A_TOKEN_ONLY:
                expected: tuple[int, Any] = (401, None)
            elif row.role is not None and not role.includes(row.role):
                expected = (403, {"role": row.role.value})
                assert response.json()["code"] == "role_required"
            else:
                expected = (row.status, ...)
            got = response.status_code
            assert (role, kind, got) == (role, kind, expected[0]), response.getvalue()
            if expected[1] not in (None, ...):
                assert response.json()["data"] == expected[1]


@FOR_EVERY_ROW
def test_who_is_no_member_gets_404(name: str, site: Site) -> None:
    row = TABLE[name]
    for kind, client in site.clients.items():
        response = site.call(client, name)
        if kind == "key" and name.split()[1] in WITH_A_TOKEN_ONLY:
            assert response.status_code == 401
        elif row.role is None:
            assert response.status_code == row.status
        else:
            assert (response.status_code, response.json()["code"]) == (404, "not_found")


@FOR_EVERY_ROW
def test_an_ended_session_gets_401(name: str, site: Site) -> None:
    row = TABLE[name]
    site = join(site, OWNER)
    assert end(Session.objects.filter(user=site.member.user), EndReason.LOGOUT) == 1
    response = site.call(site.clients["token"], name)
    assert response.status_code == (row.status if row.is_public else 401)


@for_each("name", [name for name in sorted(TABLE) if "{" in name and TABLE[name].role])
def test_an_object_of_another_workspace_is_unknown(name: str, site: Site) -> None:
    """The same response after the same statements, so that the time is the same, too."""
    unknown = site._replace(ids={})
    if "workspaces" in name:
        owner = User.objects.get(email="alice@example.com")
        site = site._replace(ids=site.ids | {"{memberId}": str(owner.public_id)})
    else:
        # A member of both, without the header.
        site = join(site, OWNER)
    takes_keys = name.split()[1] not in WITH_A_TOKEN_ONLY
    client = key_client(site.member.api_key) if takes_keys else bearer_client(site.member.user)
    outcome(unknown, client, name)
    foreign, expected = outcome(site, client, name), outcome(unknown, client, name)
    assert foreign[0] == 404
    assert foreign == expected


@for_each("name", ["POST /api/qr-codes", "POST /api/urls/bulk-update", "POST /api/urls/bulk-delete"])
def test_ids_in_bodies_are_unknown_without_the_header(name: str, site: Site) -> None:
    site = join(site, OWNER)
    client = key_client(site.member.api_key)
    unknown = site._replace(ids={"urls": UNKNOWN_ID})
    outcome(unknown, client, name)
    foreign, expected = outcome(site, client, name), outcome(unknown, client, name)
    assert foreign == expected
    assert b'"status":404' in foreign[1] or foreign[0] == 404
