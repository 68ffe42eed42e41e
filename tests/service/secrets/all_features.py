"""A run of the service that uses all its features."""

from __future__ import annotations

import re
from contextlib import closing

from testing.polling import eventually
from testing.service.running import Connection, Response, Service

TYPED = [f"typed-by-{who}-9f3b" for who in ("a-stranger", "the-owner-by-mistake", "a-visitor", "an-operator")]
# Addresses of incoming webhooks are secrets.
WEBHOOK_PATH = "secret-path-of-a-webhook-1c7a"
LINK_PASSWORDS = ["first-password-of-a-link", "second-password-of-a-link"]


def use_every_feature(service: Service, port: int) -> list[str]:
    """Uses every credential, and puts secrets in every place where a client may put one by mistake."""
    owner = service.owner
    call = service.call

    def log_in(password: str) -> Response:
        return call("POST", "/api/auth/login", {"email": owner.email, "password": password})

    tokens = log_in(owner.password).json()
    token, refresh = tokens["token"], tokens["refreshToken"]
    bearer = {"Authorization": f"Bearer {token}"}
    renewed = call("POST", "/api/auth/refresh", {"refreshToken": refresh}).json()["token"]
    keys = []
    for number in range(2):
        headers = bearer | {"Idempotency-Key": f"rotation-{number}"}
        keys.append(call("POST", "/api/auth/regenerate-api-key", **headers).json()["apiKey"])
    key = keys[-1]
    assert call("GET", "/api/auth/api-key", **bearer).json()["apiKey"] == key

    assert log_in(TYPED[0]).status == log_in(TYPED[1]).status == 401
    for place in ("key", "api_key", "apiKey", "token", "access_token"):
        assert call("GET", f"/api/urls?{place}={key}").status == 401
        assert call("POST", "/api/urls", {place: key, "originalUrl": "https://example.com/"}).status == 401
    assert call("GET", f"/api/urls/{key}", X_API_Key=key).status == 404
    assert call("GET", f"/{key}").status == 404
    assert call("GET", "/api/urls", X_API_Key=key + "x").status == 401

    # URLs that would cause a call if the service fetched them.
    inside = f"http://127.0.0.1:{port}/"
    fields = {
        "originalUrl": inside,
        "title": inside,
        "description": inside,
        "tags": [inside],
        "utm": {"source": inside},
    }
    named = {"X-API-Key": key, "Idempotency-Key": "creation"}
    for _ in range(2):
        link = call("POST", "/api/urls", fields | {"password": LINK_PASSWORDS[0]}, **named).json()["data"][
            "url"
        ]
    path = f"/api/urls/{link['_id']}"
    assert call("PUT", path, {"password": LINK_PASSWORDS[1]}, X_API_Key=key).status == 200
    assert call("PUT", path, {"password": "x" * 200 + TYPED[2]}, X_API_Key=key).status == 400
    cookies = visit(service, f"/{link['shortCode']}", Referer=inside)
    plain = service.create_link(key, originalUrl=inside)
    for code in (plain["shortCode"], plain["shortCode"] + "+"):
        assert call("GET", f"/{code}", Referer=inside, X_Forwarded_For=inside).status in (200, 302)
    assert call("POST", "/api/qr-codes", {"urlId": plain["_id"]}, X_API_Key=key).status == 201
    assert call("POST", "/api/qr-codes", {"urlId": plain["_id"], "logo": inside}, X_API_Key=key).status == 400
    claimed = call("POST", "/api/domains", {"domain": "go.brand.example"}, X_API_Key=key).json()["data"][
        "domain"
    ]
    assert (
        call("PATCH", f"/api/domains/{claimed['_id']}", {"notFoundUrl": inside}, X_API_Key=key).status == 200
    )
    assert call("POST", f"/api/domains/{claimed['_id']}/verify", {}, X_API_Key=key).status == 400

    signing = listen(service, key, f"https://127.0.0.1:{port}/{WEBHOOK_PATH}")
    session = operate(service)
    assert len({key, *keys, token, refresh, renewed, session, *cookies}) == 7
    issued = [key, *keys, token, refresh, renewed, session, *cookies, signing]
    return [*issued, WEBHOOK_PATH, *LINK_PASSWORDS, *TYPED]


def listen(service: Service, key: str, url: str) -> str:
    """Makes a webhook whose address the service refuses to call. Returns its secret once it has been tried."""
    body = {"name": "Shop", "types": ["link.created"], "url": url}
    made = service.call("POST", "/api/webhooks", body, X_API_Key=key).json()["data"]
    service.create_link(key)
    path = f"/api/webhooks/{made['webhook']['_id']}/deliveries"

    def errors() -> list[str | None]:
        deliveries = service.call("GET", path, X_API_Key=key).json()["data"]["deliveries"]
        return [delivery["error"] for delivery in deliveries]

    eventually(lambda: errors() not in ([], [None]))
    secret: str = made["secret"]
    return secret


def visit(service: Service, path: str, **headers: str) -> list[str]:
    """Submits a wrong and the right password of a link. Returns the values of the cookies."""
    form = service.call("GET", path, **headers)
    csrf = cookie(form, "csrftoken")
    token = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', form.body)
    assert token is not None
    responses = []
    for password in (TYPED[2], LINK_PASSWORDS[1]):
        sent = f"csrfmiddlewaretoken={token[1].decode()}&password={password}"
        responses.append(post_form(service, path, sent, Cookie=f"csrftoken={csrf}"))
    assert [response.status for response in responses] == [401, 303]
    unlocked = re.match(r"unlocked-[\w-]+=([^;]+)", responses[1].headers["Set-Cookie"])
    assert unlocked is not None
    assert service.call("GET", f"{path}?password={LINK_PASSWORDS[1]}&pw={TYPED[2]}").status == 401
    assert (
        service.call("GET", path, Cookie=responses[1].headers["Set-Cookie"].partition(";")[0]).status == 302
    )
    return [unlocked[1]]


def operate(service: Service) -> str:
    """Logs in to the admin and opens its pages. Returns the session cookie."""
    form = service.call("GET", "/accounts/login/")
    csrf = cookie(form, "csrftoken")
    token = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', form.body)
    assert token is not None
    sent = f"csrfmiddlewaretoken={token[1].decode()}&login={service.owner.email}&password="
    headers = {"Cookie": f"csrftoken={csrf}"}
    assert post_form(service, "/accounts/login/", sent + TYPED[3], **headers).status == 200
    response = post_form(service, "/accounts/login/", sent + service.owner.password, **headers)
    session = cookie(response, "sessionid")
    assert service.call("GET", "/admin/accounts/user/", Cookie=f"sessionid={session}").status == 200
    return session


def post_form(service: Service, path: str, body: str, **headers: str) -> Response:
    with closing(Connection(service.port)) as connection:
        sent = {"User-Agent": "Mozilla/5.0", "Content-Type": "application/x-www-form-urlencoded", **headers}
        connection.request("POST", path, body, sent)
        return connection.receive()


def cookie(response: Response, name: str) -> str:
    for line in response.headers.get_all("Set-Cookie") or []:
        if line.startswith(f"{name}="):
            return line.partition(";")[0].partition("=")[2]
    raise AssertionError(response)
