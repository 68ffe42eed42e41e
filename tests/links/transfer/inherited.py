"""Links with codes of another shortener."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from testing.links.many import imported

CODES = ["spring-sale", "spring_sale", "v1.2", "~tom", "-", "_", "~", "a", "ab", "a-b.c_d~e", "x" * 255]


def table(header: str, *rows: list[str]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([header.split(","), *rows])
    return text.getvalue()


def target(code: str) -> str:
    return f"https://example.com/{CODES.index(code)}"


# Name: the export of another service, in which each of CODES has a link.
EXPORTS_WITH_HYPHENS = {
    "bitly": json.dumps(
        {
            "links": [
                {"id": f"bit.ly/{code}", "link": f"https://bit.ly/{code}", "long_url": target(code)}
                for code in CODES
            ]
        }
    ),
    "bitly, custom": json.dumps(
        {
            "links": [
                {
                    "link": f"https://bit.ly/3abcXYZ{number}",
                    "custom_bitlinks": [f"https://bit.ly/{code}"],
                    "long_url": target(code),
                }
                for number, code in enumerate(CODES)
            ]
        }
    ),
    "bitly, CSV": table(
        "Link,Custom Link,Destination URL,Title",
        *(
            [f"https://bit.ly/3abcXYZ{number}", f"bit.ly/{code}", target(code), ""]
            for number, code in enumerate(CODES)
        ),
    ),
    "dub": json.dumps([{"domain": "dub.sh", "key": code, "url": target(code)} for code in CODES]),
    "dub, CSV": table(
        "Short link,Destination URL,Clicks",
        *([f"https://dub.sh/{code}", target(code), "3"] for code in CODES),
    ),
    "shlink": json.dumps(
        {"shortUrls": {"data": [{"shortCode": code, "longUrl": target(code)} for code in CODES]}}
    ),
    "shlink, CSV": table(
        "createdAt,domain,shortCode,shortUrl,longUrl",
        *(
            ["2024-03-01T10:30:00+01:00", "s.test", code, f"https://s.test/{code}", target(code)]
            for code in CODES
        ),
    ),
    "yourls": table("keyword,url,title", *([code, target(code), ""] for code in CODES)),
    "yourls, API": json.dumps(
        {
            "links": {
                f"link_{number}": {
                    "shorturl": f"https://y.test/{code}",
                    "url": target(code),
                    "timestamp": "2024-03-01 09:30:00",
                }
                for number, code in enumerate(CODES)
            }
        }
    ),
    "kutt": json.dumps({"data": [{"address": code, "target": target(code)} for code in CODES]}),
    "own": table("originalUrl,customCode", *([target(code), code] for code in CODES)),
    "shortio": json.dumps({"links": [{"originalURL": target(code), "path": code} for code in CODES]}),
    "linkly": json.dumps(
        {
            "links": [
                {"url": target(code), "full_url": f"https://l.test/{code}", "slug": f"/{code}"}
                for code in CODES
            ]
        }
    ),
    "tly": json.dumps({"data": [{"long_url": target(code), "short_id": code} for code in CODES]}),
    "rebrandly": json.dumps([{"destination": target(code), "slashtag": code} for code in CODES]),
}


@pytest.fixture
def links(api: APIClient) -> dict[str, dict[str, Any]]:
    """An imported link for each of CODES."""
    verdicts = imported(api, EXPORTS_WITH_HYPHENS["own"])
    return {code: verdict["url"] for code, verdict in zip(CODES, verdicts, strict=True)}
