"""Creates, follows and reports a link, through the package that was generated from the description."""

import json
import sys
import time
from datetime import UTC, datetime

import httpx
from generated import AuthenticatedClient, Client
from generated.api.analytics import get_analytics
from generated.api.authentication import login
from generated.api.links import create_url
from generated.models import (
    CreateLinkRequest,
    CreateUrlResponse,
    Error,
    GetAnalyticsResponse,
    LoginRequest,
    LoginResponse,
    RestrictionsRequest,
)
from generated.types import Unset

base_url, api_key, email, password, agent = sys.argv[1:]

api = AuthenticatedClient(base_url, api_key, prefix="", auth_header_name="X-API-Key")
restrictions = RestrictionsRequest(max_clicks=5)
link = CreateLinkRequest(
    "https://example.com/python", expires_at=datetime(2099, 1, 1, tzinfo=UTC), restrictions=restrictions
)
created = create_url.sync(client=api, body=link)
assert isinstance(created, CreateUrlResponse), created
url = created.data.url

visit = httpx.get(url.short_url, headers={"User-Agent": agent}, timeout=240)

# The other credential reads the report.
entered = login.sync(client=Client(base_url), body=LoginRequest(email=email, password=password))
assert isinstance(entered, LoginResponse), entered
person = AuthenticatedClient(base_url, entered.token)

clicks, deadline = 0, time.monotonic() + 240
while clicks == 0 and time.monotonic() < deadline:
    report = get_analytics.sync(url.field_id, client=person, limit=5)
    assert isinstance(report, GetAnalyticsResponse), report
    clicks = report.data.total_clicks
    time.sleep(0.05)

refused = create_url.sync(client=api, body=CreateLinkRequest("no address"))
assert isinstance(refused, Error), refused
assert not isinstance(refused.errors, Unset), refused
result = {
    "domain": created.data.domain.id,
    "status": visit.status_code,
    "location": visit.headers["Location"],
    "clicks": clicks,
    "refusal": [[error.field, error.code] for error in refused.errors],
}
sys.stdout.write(json.dumps(result))
