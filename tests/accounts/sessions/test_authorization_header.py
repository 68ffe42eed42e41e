"""Where a request may carry a token, and in what form."""

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from testing.accounts.accounts import log_in
from testing.accounts.fixtures import user as user


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer\t{token}",
        "Bearer{token}",
        "Bearer: {token}",
        "{token}",
        "Token {token}",
        "JWT {token}",
        "Basic {token}",
        "Basic YWxpY2U6eA==",
        "Digest {token}",
        "Bearer Bearer {token}",
        "Bearer null",
        "Bearer undefined",
        "Bearer,{token}",
        "bearer={token}",
        "Bearer token={token}",
        "ApiKey {token}",
    ],
)
def test_authorization_other_than_bearer_and_a_token_is_refused(
    authorization: str, user: User, anonymous: APIClient
) -> None:
    header = authorization.format(token=log_in(user).access)
    response = anonymous.get("/api/urls", headers={"authorization": header})
    body = response.json()
    assert (response.status_code, body["success"], body["code"], response.headers["WWW-Authenticate"]) == (
        401,
        False,
        "not_authenticated",
        'Bearer realm="api"',
    )


@pytest.mark.parametrize("place", ["?token={}", "?access_token={}", "?jwt={}", "?authorization=Bearer%20{}"])
def test_token_is_accepted_only_in_the_header(place: str, user: User, anonymous: APIClient) -> None:
    token = log_in(user).access
    assert anonymous.get("/api/urls" + place.format(token)).status_code == 401
    anonymous.cookies["token"] = token
    assert anonymous.get("/api/urls").status_code == 401
