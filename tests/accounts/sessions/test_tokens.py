"""Forged tokens. Each differs from an accepted one in exactly one respect."""

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from testing.accounts.accounts import claims_of, log_in
from testing.accounts.fixtures import user as user
from tests.accounts.sessions.forgeries import (
    EACH_FORGERY,
    HEADER,
    Forgery,
    encode,
    sign,
    with_claims,
    with_header,
)

NOT_VALID = ("The token is not valid or has expired.", "not_authenticated")
OF_NO_ISSUER = (
    "The workspace in X-Workspace does not accept this token, or it is not valid now.",
    "token_refused",
)


def test_the_unmodified_token_is_accepted(user: User, anonymous: APIClient) -> None:
    tokens = log_in(user)
    access, refresh = (sign(HEADER, claims_of(token)) for token in (tokens.access, tokens.refresh))
    assert anonymous.get("/api/urls", headers={"authorization": f"Bearer {access}"}).status_code == 200
    assert anonymous.post("/api/auth/refresh", {"refreshToken": refresh}).status_code == 200


@pytest.mark.parametrize(
    "harmless",
    [with_header(kid="1"), with_header(jku="https://attacker.example/keys.json"), with_claims(admin=True)],
    ids=["kid", "jku", "claim"],
)
def test_unused_parts_of_a_token_are_ignored(harmless: Forgery, user: User, anonymous: APIClient) -> None:
    token = harmless(claims_of(log_in(user).access))
    assert anonymous.get("/api/urls", headers={"authorization": f"Bearer {token}"}).status_code == 200


@EACH_FORGERY
@pytest.mark.slow
def test_forged_access_token_is_refused(forge: Forgery, user: User, anonymous: APIClient) -> None:
    token = forge(claims_of(log_in(user).access))
    response = anonymous.get("/api/urls", headers={"authorization": f"Bearer {token}"})
    # Issuers that a workspace names sign with these algorithms.
    heads = tuple(encode({**HEADER, "alg": algorithm}) for algorithm in ("RS256", "ES256"))
    message, code = OF_NO_ISSUER if token.startswith(heads) else NOT_VALID
    assert (response.status_code, response.json(), response.headers["WWW-Authenticate"]) == (
        401,
        {"success": False, "message": message, "code": code},
        'Bearer realm="api"',
    )


@EACH_FORGERY
def test_forged_refresh_token_is_refused(forge: Forgery, user: User, anonymous: APIClient) -> None:
    token = forge(claims_of(log_in(user).refresh))
    response = anonymous.post("/api/auth/refresh", {"refreshToken": token})
    if token == "" or "\0" in token or len(token) > 2000:
        assert response.status_code == (413 if len(token) > 60_000 else 400)
        assert response.json()["success"] is False
        return
    assert (response.status_code, response.json(), response.headers["WWW-Authenticate"]) == (
        401,
        {
            "success": False,
            "message": "The refresh token is not valid or has expired.",
            "code": "not_authenticated",
        },
        'Bearer realm="api"',
    )
