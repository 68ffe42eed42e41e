"""Links and requests for the tests that compare both lanes."""

from __future__ import annotations

from typing import Any

from testing.fastlane.lanes import fast
from testing.redirects.following import FUTURE, PAST
from testing.redirects.visits import CLIENT, django
from testing.visitors.addresses import AMERICAN
from testing.visitors.agents import GOOGLEBOT, MOBILE, TABLET

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
    "own visit": {"Cookie": "a=b; ignore_my_visits=1"},
    "own visit no more": {"Cookie": "ignore_my_visits=10; not_ignore_my_visits=1"},
    "own crawler": {"Cookie": "ignore_my_visits=1", "User-Agent": GOOGLEBOT},
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
# Plain links, which the fast lane serves.
PLAIN_LINKS: dict[str, dict[str, Any]] = {
    "plain": {},
    "302": {"redirectType": 302},
    "301": {"redirectType": 301},
    "expires later": {"expiresAt": FUTURE},
    "expires later, 301": {"expiresAt": FUTURE, "redirectType": 301},
    "tags": {"utm": UTM},
    "custom code": {"customCode": "spring"},
    "allowed here": {"restrictions": {"allowedCountries": ["US", "GB"]}},
    "allowed device": {"restrictions": {"allowedDevices": ["desktop"]}},
    "not blocked here": {"restrictions": {"blockedCountries": ["JP"]}, "redirectType": 301},
    "destination with everything": {"originalUrl": "https://exämple.com:8443/ä b?x=1&y=%20#fragment"},
    "longest destination": {"originalUrl": "https://example.com/" + "a" * 2028},
}
# Links that the fast lane refuses to the visitor: an American with a desktop.
REFUSED_LINKS: dict[str, dict[str, Any]] = {
    "not allowed here": {"restrictions": {"allowedCountries": ["JP"]}},
    "blocked here": {"restrictions": {"blockedCountries": ["US"]}},
    "not this device": {"restrictions": {"allowedDevices": ["mobile", "tablet"]}},
    "neither here nor on this device": {
        "restrictions": {"allowedCountries": ["JP"], "allowedDevices": ["mobile"]}
    },
    "not allowed here, with a referrer policy": {
        "restrictions": {"allowedCountries": ["JP"]},
        "referrerPolicy": "no-referrer",
        "expiredUrl": "https://example.com/late",
    },
    "rules": {
        "restrictions": {"allowedCountries": ["JP"]},
        "rules": [
            {
                "name": "a",
                "url": "https://example.com/a",
                "conditions": [{"type": "device", "values": ["desktop"]}],
            }
        ],
    },
}
ACCEPTS = (
    None,
    "",
    "*/*",
    "application/json",
    "text/html",
    "text/html, application/json",
    "application/json;q=0.9, text/html;q=0.8",
    "application/*",
    "text/html;q=0.1, */*",
    "nonsense;;q=x",
)
# Ambiguous requests, which are not simple.
NOT_SIMPLE: dict[str, dict[str, str | None]] = {
    "no host": {"Host": None},
    "empty host": {"Host": ""},
    "another host": {"Host": "evil.example"},
    "host with a name": {"Host": "user@sho.rt"},
    "two hosts": {"Host": "sho.rt\r\nHost: sho.rt"},
    "two hosts, differently written": {"Host": "sho.rt\r\nHOST: evil.example"},
    "two agents": {"User-Agent": "a\r\nUser-Agent: b"},
    "two referrers": {"Referer": "a\r\nReferer: b"},
    "two lines of cookies": {"Cookie": "a=b\r\nCookie: ignore_my_visits=1"},
    "two accepted types": {"Accept": "text/html\r\nAccept: application/json"},
    "latin-1": {"User-Agent": "Mözilla"},
    "tab": {"User-Agent": "Mozilla\tFirefox"},
    "control character": {"X-Nothing": "a\x01b"},
    "no value": {"X-Nothing\r\nX-Other": ""},
    "folded": {"X-Nothing": "a\r\n b"},
    "space before colon": {"X-Nothing ": "a"},
    "underscore": {"X_Forwarded_For": AMERICAN},
    "connection of two": {"Connection": "keep-alive, close"},
    "upgrade": {"Connection": "Upgrade", "Upgrade": "websocket"},
    "h2c": {"Upgrade": "h2c", "HTTP2-Settings": "AAMAAABkAAQCAAAAAAIAAAAA"},
    "expectation": {"Expect": "100-continue"},
    "body": {"Content-Length": "0"},
    "chunks": {"Transfer-Encoding": "identity"},
    "content type": {"Content-Type": "text/plain"},
    "two schemes": {"X-Forwarded-Proto": "https", "X-Forwarded-Ssl": "off"},
    "two schemes, older field": {"X-Forwarded-Proto": "https", "X-Forwarded-Protocol": "http"},
    "too many fields": {f"X-Field-{number}": "x" for number in range(70)},
    "too long": {"X-Nothing": "x" * 5000},
}


def path_of(link: dict[str, Any], query: str = "") -> str:
    return f"/{link['customCode'] or link['shortCode']}{query}"


def assert_same(data: bytes, client: str = CLIENT) -> None:
    by_fast_lane = fast(data, client)
    assert by_fast_lane is not None
    assert by_fast_lane == django(data, client)
