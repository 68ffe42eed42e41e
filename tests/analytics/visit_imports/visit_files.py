"""Files with the visits of other shorteners, and their import."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from analytics.models import BusyMonth, DayCount, DayTotal, LifeCount, MonthCount, QuarterTotal
from links.models import ClickCounter
from testing.links.many import URL, imported
from tests.analytics.reading import report

YOURLS = """click_id,click_time,shorturl,referrer,user_agent,ip_address,country_code
1,2024-03-01 09:30:00,my-link,direct,Mozilla/5.0,203.0.113.9,DE
2,2024-03-01 23:59:59,my-link,https://example.org/,Mozilla/5.0,203.0.113.9,FR
3,2024-03-03 00:00:00,my-link,direct,Mozilla/5.0,203.0.113.9,
4,2024-03-03 12:00:00,other,direct,curl/8,203.0.113.9,
"""
SHLINK_VISIT = {"referer": "", "userAgent": "Mozilla/5.0", "visitLocation": None, "potentialBot": False}
GOATCOUNTER = """2Path,Title,Event,User-Agent,Browser,System,Session,Bot,Referrer,Location,FirstVisit,Date
/my-link,,false,,Firefox 120,Linux,1,0,,DE,true,2024-03-01T09:30:00Z
/my-link,,false,,Firefox 120,Linux,1,0,,DE,false,2024-03-01T09:31:00Z
/my-link,,false,,Firefox 120,Linux,2,0,,DE,true,2024-03-03T09:30:00Z
/my-link,,false,,bot,,3,7,,DE,true,2024-03-03T09:30:00Z
my-link,,true,,Firefox 120,Linux,2,0,,DE,true,2024-03-03T09:30:00Z
/other,,false,,Firefox 120,Linux,2,0,,DE,true,2024-03-03T09:30:00Z
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "visits"


@pytest.fixture
def links(api: APIClient) -> dict[str, dict[str, Any]]:
    """Two links imported with all their clicks, and their creation dates."""
    rows = [
        {"originalUrl": URL, "customCode": code, "clickCount": clicks, "createdAt": "2024-02-01"}
        for code, clicks in (("my-link", 10), ("other", 0))
    ]
    verdicts = imported(api, "\n".join(map(json.dumps, rows)))
    return {verdict["url"]["customCode"]: verdict["url"] for verdict in verdicts}


def run(file: Path, *arguments: str | Path) -> tuple[list[str], int]:
    output, status = StringIO(), 0
    try:
        call_command(
            "import_visits", str(file), *map(str, arguments), "--owner", "Alice@example.com", stdout=output
        )
    except SystemExit as end:
        status = int(end.code or 0)
    return output.getvalue().splitlines(), status


def clicks_by_day(api: APIClient, link: dict[str, Any], **query: object) -> dict[str, int]:
    days = report(api, link["_id"], **query)["clicksByDate"]
    return {day["date"]: day["clicks"] for day in days if day["clicks"]}


def rows_of_reports() -> list[list[dict[str, Any]]]:
    return [
        sorted(model.objects.values(), key=repr)
        for model in (DayTotal, QuarterTotal, DayCount, LifeCount, BusyMonth, MonthCount, ClickCounter)
    ]


def shlink_visits(*addresses: str) -> str:
    visit = SHLINK_VISIT | {"date": "2024-03-01T09:30:00Z"}
    return json.dumps([visit | {"visitedUrl": address} for address in addresses])
