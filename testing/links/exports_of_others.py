"""The same two links in the export formats of other products, with their columns, dates and lists."""

# ruff: noqa: E501 # one line per line of the file

from __future__ import annotations

import json

_KUTT = {
    "total": 2,
    "limit": 10,
    "skip": 0,
    "data": [
        {
            "id": "6a0b", "address": "spring", "banned": False, "created_at": "2024-03-01T09:30:00.000Z",
            "updated_at": "2024-03-02T09:30:00.000Z", "password": False, "description": "Spring sale",
            "expire_in": "2030-06-01T00:00:00.000Z", "target": "https://example.com/spring", "visit_count": 42,
            "domain": None, "link": "https://kutt.it/spring",
        },
        {
            "id": "6a0c", "address": "k3TzP9q", "banned": True, "created_at": "2023-01-02T03:04:05.000Z",
            "updated_at": "2023-01-02T03:04:05.000Z", "password": False, "description": None, "expire_in": None,
            "target": "https://example.com/other", "visit_count": 0, "domain": "go.brand.example",
            "link": "https://go.brand.example/k3TzP9q",
        },
    ],
}  # fmt: skip
_BITLY = {
    "links": [
        {
            "created_at": "2024-03-01T09:30:00+0000", "id": "bit.ly/3abcXYZ", "link": "https://bit.ly/3abcXYZ",
            "custom_bitlinks": ["https://bit.ly/spring"], "long_url": "https://example.com/spring",
            "title": "Spring sale", "archived": False, "tags": ["sale", "mail"], "deeplinks": [],
            "references": {"group": "https://api-ssl.bitly.com/v4/groups/Bk"},
        },
        {
            "created_at": "2023-01-02T03:04:05+0000", "id": "go.brand.example/k3TzP9q",
            "link": "https://go.brand.example/k3TzP9q", "custom_bitlinks": [],
            "long_url": "https://example.com/other", "archived": True, "tags": [], "deeplinks": [], "references": {},
        },
    ],
    "pagination": {"prev": "", "next": "", "size": 50, "page": 1, "total": 2},
}  # fmt: skip
_SHLINK = {
    "shortUrls": {
        "data": [
            {
                "shortCode": "spring", "shortUrl": "https://s.test/spring", "longUrl": "https://example.com/spring",
                "dateCreated": "2024-03-01T10:30:00+01:00", "tags": ["sale", "mail"], "domain": None,
                "visitsSummary": {"total": 42, "nonBots": 40, "bots": 2}, "title": "Spring sale", "crawlable": False,
                "meta": {"validSince": None, "validUntil": "2030-06-01T02:00:00+02:00", "maxVisits": 100},
                "forwardQuery": True, "hasRedirectRules": False,
            },
            {
                "shortCode": "k3TzP9q", "shortUrl": "https://go.brand.example/k3TzP9q",
                "longUrl": "https://example.com/other", "dateCreated": "2023-01-02T03:04:05+00:00", "tags": [],
                "visitsCount": 0, "meta": {"validSince": None, "validUntil": None, "maxVisits": None},
                "domain": "go.brand.example", "title": None, "crawlable": False, "forwardQuery": True,
            },
        ],
        "pagination": {"currentPage": 1, "pagesCount": 1, "itemsPerPage": 10, "totalItems": 2},
    }
}  # fmt: skip
_DUB = [
    {
        "id": "link_1", "domain": "dub.sh", "key": "spring", "url": "https://example.com/spring", "archived": False,
        "expiresAt": "2030-06-01T00:00:00.000Z", "expiredUrl": None, "password": None, "title": "Spring sale",
        "description": None, "tags": [{"id": "t1", "name": "sale", "color": "red"}, {"id": "t2", "name": "mail"}],
        "shortLink": "https://dub.sh/spring", "clicks": 42, "createdAt": "2024-03-01T09:30:00.000Z",
        "utm_source": None, "disabledAt": None,
    },
    {
        "id": "link_2", "domain": "go.brand.example", "key": "k3TzP9q", "url": "https://example.com/other",
        "archived": True, "expiresAt": None, "password": None, "title": None, "description": None, "tags": [],
        "shortLink": "https://go.brand.example/k3TzP9q", "clicks": 0, "createdAt": "2023-01-02T03:04:05.000Z",
        "disabledAt": "2024-01-01T00:00:00.000Z",
    },
]  # fmt: skip

_SHORT_IO = {
    "links": [
        {
            "originalURL": "https://example.com/spring", "path": "spring", "id": "lnk_1", "idString": "lnk_1",
            "shortURL": "http://s.short.gy/spring", "secureShortURL": "https://s.short.gy/spring",
            "title": "Spring sale", "tags": ["sale", "mail"], "archived": False, "cloaking": False, "hasPassword": False,
            "createdAt": "2024-03-01T09:30:00.000Z", "updatedAt": "2024-03-02T09:30:00.000Z",
            "expiresAt": 1906502400000, "clicksLimit": None, "DomainId": 1, "OwnerId": 2, "FolderId": None, "clicks": 42,
        },
        {
            "originalURL": "https://example.com/other", "path": "k3TzP9q", "id": "lnk_2", "idString": "lnk_2",
            "shortURL": "http://go.brand.example/k3TzP9q", "secureShortURL": "https://go.brand.example/k3TzP9q",
            "title": None, "tags": [], "archived": True, "cloaking": False, "createdAt": "2023-01-02T03:04:05.000Z",
            "expiresAt": None, "DomainId": 1, "OwnerId": 2,
        },
    ],
    "count": 2, "nextPageToken": None,
}  # fmt: skip
_REBRANDLY = [
    {
        "id": "ffs24cc5b6ee4a5gh7897b06ac2d16d4", "title": "Spring sale", "slashtag": "spring",
        "destination": "https://example.com/spring", "shortUrl": "rebrand.ly/spring", "favourite": False, "clicks": 42,
        "domain": {"id": "8f104cc5b6ee4a4ba7897b06ac2ddcfb", "ref": "/domains/8f10", "fullName": "rebrand.ly"},
        "tags": [{"id": "t1", "name": "sale", "color": "8cffdd", "active": True}, {"id": "t2", "name": "mail"}],
        "createdAt": "2024-03-01T09:30:00.000Z", "updatedAt": "2024-03-01T09:30:00.000Z", "status": "active",
    },
    {
        "id": "22ff9c5c9c9441229d29524c63c9ff22", "title": "Other", "slashtag": "k3TzP9q",
        "destination": "https://example.com/other", "shortUrl": "go.brand.example/k3TzP9q", "clicks": 0, "tags": [],
        "domain": {"id": "9f104cc5b6ee4a4ba7897b06ac2ddcfb", "fullName": "go.brand.example"},
        "createdAt": "2023-01-02T03:04:05.000Z", "updatedAt": "2023-01-02T03:04:05.000Z", "status": "active",
    },
]  # fmt: skip

_TLY = {
    "current_page": 1,
    "data": [
        {
            "short_url": "https://t.ly/spring", "description": "Spring sale", "long_url": "https://example.com/spring",
            "domain": "https://t.ly/", "short_id": "spring", "expire_at_views": None,
            "expire_at_datetime": "2030-06-01 00:00:00", "public_stats": False, "has_password": False, "meta": None,
            "tags": [{"id": 1, "tag": "sale"}, {"id": 2, "tag": "mail"}], "pixels": [],
            "created_at": "2024-03-01T09:30:00.000000Z", "updated_at": "2024-03-01T09:30:00.000000Z",
        },
        {
            "short_url": "https://go.brand.example/k3TzP9q", "description": None, "short_id": "k3TzP9q",
            "long_url": "https://example.com/other", "domain": "https://go.brand.example/", "expire_at_views": None,
            "expire_at_datetime": None, "public_stats": True, "has_password": False, "meta": None, "tags": [],
            "pixels": [], "created_at": "2023-01-02T03:04:05.000000Z", "updated_at": "2023-01-02T03:04:05.000000Z",
        },
    ],
    "last_page": 1, "per_page": 1000, "total": 2,
}  # fmt: skip
_LINKLY = {
    "links": [
        {
            "id": 42001, "workspace_id": 42, "name": "Spring sale", "url": "https://example.com/spring",
            "full_url": "https://l.linklyhq.com/spring", "domain": "l.linklyhq.com",
            "slug": "/spring", "note": None, "enabled": True, "deleted": False, "cloaking": False,
            "hide_referrer": None, "forward_params": True, "block_bots": False, "public_analytics": False,
            "utm_source": None, "og_title": None, "ga4_tag_id": None, "rules": [], "sparkline": [1, 0, 4],
            "expiry_datetime": "2030-06-01T00:00:00Z", "expiry_destination": None, "expiry_clicks": None,
            "clicks_total": 42, "clicks_today": 1, "clicks_thirty_days": 40, "human_clicks_total": 40,
        },
        {
            "id": 42002, "workspace_id": 42, "name": None, "url": "https://example.com/other",
            "full_url": "https://go.brand.example/k3TzP9q", "domain": "go.brand.example", "slug": "/k3TzP9q",
            "enabled": False, "deleted": False, "cloaking": False, "forward_params": False, "rules": [],
            "clicks_total": 0, "human_clicks_total": 0, "sparkline": [0, 0, 0],
        },
    ],
    "page_number": 1, "page_size": 100, "total_pages": 1, "total_entries": 2,
}  # fmt: skip

# Name: layout and content.
EXPORTS = {
    "kutt": ("kutt", json.dumps(_KUTT, indent=2)),
    "kutt, a page in each line": ("kutt", "\n".join([json.dumps(_KUTT | {"data": [link]}) for link in _KUTT["data"]])),
    "bitly": ("bitly", json.dumps(_BITLY)),
    "bitly, CSV": (
        "bitly",
        "Link,Custom Link,Destination URL,Title,Created At,Tags,Total Engagements\r\n"
        'https://bit.ly/3abcXYZ,https://bit.ly/spring,https://example.com/spring,Spring sale,2024-03-01 09:30:00 UTC,"sale, mail",42\r\n'
        "https://go.brand.example/k3TzP9q,,https://example.com/other,,2023-01-02 03:04:05 UTC,,0\r\n",
    ),
    "bitly, snake case": (
        "bitly",
        "long_url,custom_bitlink,title,archived,tags,created_at\n"
        'https://example.com/spring,bit.ly/spring,Spring sale,false,"sale,mail",2024-03-01T09:30:00+0000\n'
        "https://example.com/other,go.brand.example/k3TzP9q,,true,,2023-01-02T03:04:05+0000\n",
    ),
    "shlink": ("shlink", json.dumps(_SHLINK)),
    "shlink, CSV": (
        "shlink",
        "createdAt,domain,shortCode,shortUrl,longUrl,title,tags,visits\n"
        "2024-03-01T10:30:00+01:00,s.test,spring,https://s.test/spring,https://example.com/spring,Spring sale,sale|mail,42\n"
        "2023-01-02T03:04:05+00:00,go.brand.example,k3TzP9q,https://go.brand.example/k3TzP9q,https://example.com/other,,,0\n",
    ),
    "shlink, what it imports itself": (
        "shlink",
        "Long URL;Tags;Domain;Short code;Title\n"
        "https://example.com/spring;sale|mail;;spring;Spring sale\n"
        "https://example.com/other;;go.brand.example;k3TzP9q;\n",
    ),
    "yourls": (
        "yourls",
        "keyword,url,title,timestamp,ip,clicks\n"
        '"spring","https://example.com/spring","Spring sale","2024-03-01 09:30:00","203.0.113.9","42"\n'
        '"k3TzP9q","https://example.com/other","","2023-01-02 03:04:05","203.0.113.9","0"\n',
    ),
    "yourls, API": (
        "yourls",
        json.dumps(
            {
                "links": {
                    "link_1": {
                        "shorturl": "https://y.test/spring", "url": "https://example.com/spring",
                        "title": "Spring sale", "timestamp": "2024-03-01 09:30:00", "ip": "203.0.113.9", "clicks": "42",
                    },
                    "link_2": {
                        "shorturl": "https://go.brand.example/k3TzP9q", "url": "https://example.com/other",
                        "title": "", "timestamp": "2023-01-02 03:04:05", "ip": "203.0.113.9", "clicks": "0",
                    },
                },
                "stats": {"total_links": "2", "total_clicks": "42"}, "statusCode": 200, "message": "success",
            }
        ),
    ),
    "dub": ("dub", json.dumps(_DUB)),
    "dub, CSV": (
        "dub",
        "Short link,Destination URL,Clicks,Created at,Updated at,Tags,Archived\n"
        'https://dub.sh/spring,https://example.com/spring,42,2024-03-01T09:30:00.000Z,2024-03-02T09:30:00.000Z,"sale, mail",false\n'
        "https://go.brand.example/k3TzP9q,https://example.com/other,0,2023-01-02T03:04:05.000Z,2023-01-02T03:04:05.000Z,,true\n",
    ),
    "dub, CSV of old": (
        "dub",
        "link,url,clicks,createdAt,updatedAt,tags,archived\n"
        'https://dub.sh/spring,https://example.com/spring,42,2024-03-01T09:30:00.000Z,2024-03-02T09:30:00.000Z,"sale, mail",false\n'
        "https://go.brand.example/k3TzP9q,https://example.com/other,0,2023-01-02T03:04:05.000Z,,,true\n",
    ),
    "shortio": ("shortio", json.dumps(_SHORT_IO)),
    "shortio, TSV": (
        "shortio",
        "id\tshort_url\toriginal_url\ttitle\tpath\ttags\tclicks_limit\tpassword\texpire_at\tarchived\tclicks\tcreated_at\n"
        "lnk_1\thttps://s.short.gy/spring\thttps://example.com/spring\tSpring sale\tspring\tsale, mail\t\t\t\tfalse\t42\t1709285400\n"
        "lnk_2\thttps://go.brand.example/k3TzP9q\thttps://example.com/other\t\tk3TzP9q\t\t\t\t\tfalse\t0\t2023-01-02T03:04:05.000Z\n",
    ),
    "rebrandly": ("rebrandly", json.dumps(_REBRANDLY)),
    "rebrandly, CSV": (
        "rebrandly",
        "id,title,createdAt,shortUrl,domain,slashtag,destination,tags,clicks\n"
        'ffs2,Spring sale,2024-03-01T09:30:00.000Z,rebrand.ly/spring,rebrand.ly,spring,https://example.com/spring,"sale,mail",42\n'
        "22ff,,2023-01-02T03:04:05.000Z,go.brand.example/k3TzP9q,go.brand.example,k3TzP9q,https://example.com/other,,0\n",
    ),
    "tly": ("tly", json.dumps(_TLY)),
    "linkly": ("linkly", json.dumps(_LINKLY)),
    "rebrandly, labels": (
        "rebrandly",
        "Title,Short URL,Destination URL,Tags,Clicks,Created at\n"
        'Spring sale,https://rebrand.ly/spring,https://example.com/spring,"sale, mail",42,2024-03-01 09:30:00\n'
        ",https://go.brand.example/k3TzP9q,https://example.com/other,,0,2023-01-02 03:04:05\n",
    ),
}  # fmt: skip
