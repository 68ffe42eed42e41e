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
wanted = CreateLinkRequest(
    "https://example.com/python", expires_at=datetime(2099, 1, 1, tzinfo=UTC), restrictions=restrictions
)
made = create_url.sync(client=api, body=wanted)
assert isinstance(made, CreateUrlResponse), made
url = made.data.url

visit = httpx.get(url.short_url, headers={"User-Agent": agent})

# The other credential reads the report.
entered = login.sync(client=Client(base_url), body=LoginRequest(email=email, password=password))
assert isinstance(entered, LoginResponse), entered
person = AuthenticatedClient(base_url, entered.token)

clicks, deadline = 0, time.monotonic() + 60
while clicks == 0 and time.monotonic() < deadline:
    report = get_analytics.sync(url.field_id, client=person, limit=5)
    assert isinstance(report, GetAnalyticsResponse), report
    clicks = report.data.total_clicks
    time.sleep(0.05)

refused = create_url.sync(client=api, body=CreateLinkRequest("no address"))
assert isinstance(refused, Error), refused
assert not isinstance(refused.errors, Unset), refused
found = {
    "domain": made.data.domain.id,
    "status": visit.status_code,
    "location": visit.headers["Location"],
    "clicks": clicks,
    "refusal": [[each.field, each.code] for each in refused.errors],
}
sys.stdout.write(json.dumps(found))
