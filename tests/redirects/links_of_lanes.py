"""Links and requests for the tests that compare both lanes."""

from __future__ import annotations

from typing import Any

from tests.redirects.following import AMERICAN, PAST
from tests.redirects.lanes import CLIENT, django, fast
from tests.redirects.test_access import GOOGLEBOT, MOBILE, TABLET

PROXY = "10.0.0.7"
UTM = {"source": "news", "medium": "mail"}
# Restricted links, which the Django view serves.
OTHER_LINKS: dict[str, dict[str, Any]] = {
    "expired": {"expiresAt": PAST},
    "limited": {"restrictions": {"maxClicks": 5}},
    "password": {"password": "secret"},
    "password and limit": {"password": "secret", "restrictions": {"maxClicks": 5}},
}
# Header fields of simple requests for a plain link.
SIMPLE: dict[str, dict[str, str | None]] = {
    "usual": {},
    "only a host": dict.fromkeys(
        ("User-Agent", "Accept", "Accept-Language", "Accept-Encoding", "Connection")
    ),
    "no agent": {"User-Agent": None},
    "empty agent": {"User-Agent": ""},
    "telephone": {"User-Agent": MOBILE},
    "tablet": {"User-Agent": TABLET},
    "crawler": {"User-Agent": GOOGLEBOT},
    "preview": {"User-Agent": "WhatsApp/2.23.20.0"},
    "tool": {"User-Agent": "curl/8.5.0"},
    "endless agent": {"User-Agent": "Mozilla/5.0 " + "x" * 2000},
    "referrer": {"Referer": "https://news.example.org/item?id=4711"},
    "empty referrer": {"Referer": ""},
    "endless referrer": {"Referer": "https://example.org/" + "x" * 2000},
    "padded referrer": {"Referer": "   https://example.org/   "},
    "escaped referrer": {"Referer": "https://example.org/%C3%A4"},
    "prefetch": {"Sec-Purpose": "prefetch"},
    "prerender": {"Sec-Purpose": "prefetch;prerender"},
    "old prefetch": {"Purpose": "prefetch"},
    "oldest prefetch": {"X-Moz": "prefetch"},
    "other purpose": {"Sec-Purpose": "something"},
    "prefetching crawler": {"Sec-Purpose": "prefetch", "User-Agent": GOOGLEBOT},
    "opted out": {"Sec-GPC": "1"},
    "do not track": {"DNT": "1"},
    "both": {"Sec-GPC": "1", "DNT": "1"},
    "neither": {"Sec-GPC": "0", "DNT": "0"},
    "DNT differs": {"Sec-GPC": "0", "DNT": "1"},
    "DNT is true": {"DNT": "true"},
    "closes": {"Connection": "close"},
    "CLOSES": {"Connection": "Close"},
    "keeps": {"Connection": "Keep-Alive"},
    "says nothing": {"Connection": None},
    "host with port": {"Host": "sho.rt:80"},
    "upper case host": {"Host": "SHO.RT"},
    "host with a dot": {"Host": "sho.rt."},
    "lower case names": {"Host": None, "host": "sho.rt", "User-Agent": None, "user-agent": MOBILE},
    "UPPER CASE NAMES": {"Host": None, "HOST": "sho.rt", "REFERER": "https://example.org/", "DNT": "1"},
    "JSON": {"Accept": "application/json"},
    "cookies": {"Cookie": "a=b; c=d"},
    "key": {"X-API-Key": "sl_live_nothing", "Authorization": "Bearer nothing"},
    "range": {
        "Range": "bytes=0-5",
        "If-None-Match": '"x"',
        "If-Modified-Since": "Sat, 21 Nov 2026 12:00:00 GMT",
    },
    "origin": {"Origin": "https://evil.example"},
    "forwarded by a stranger": {"X-Forwarded-For": AMERICAN},
    "forwarded host": {"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"},
    "forwarded scheme": {"X-Forwarded-Proto": "https"},
    "other scheme": {"X-Forwarded-Ssl": "on"},
    "cache control": {"Cache-Control": "no-cache", "Pragma": "no-cache"},
    "no space": {"Host": None, "Host:sho.rt\r\nX-Nothing": "x"},
    "keep-alive field": {"Keep-Alive": "timeout=5", "TE": "trailers"},
    "method override": {"X-HTTP-Method-Override": "POST"},
    "rewritten path": {"X-Original-URL": "/admin", "X-Rewrite-URL": "/admin"},
}


def path_of(link: dict[str, Any], query: str = "") -> str:
    return f"/{link['customCode'] or link['shortCode']}{query}"


def check_same(data: bytes, client: str = CLIENT) -> None:
    by_fast_lane = fast(data, client)
    assert by_fast_lane is not None
    assert by_fast_lane == django(data, client)
