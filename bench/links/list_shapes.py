"""The kinds of lists whose latency is measured."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from bench.load.busy_accounts import DAYS, DOMAINS, FEW, SOME
from common.http.short_urls import BASE_ID
from domains.models import Domain


class Shape(NamedTuple):
    name: str
    owner: str
    query: dict[str, Any]


def shapes(links: int) -> list[Shape]:
    def many(name: str, **query: Any) -> Shape:
        return Shape(name, "many", query)

    lists = [Shape(f"first page of {FEW} links (baseline)", "few", {}), many("first page")]
    lists += [many("last page", page=links // 20), many("middle page", page=links // 40)]
    for sort in ("createdAt", "clickCount", "title"):
        for order in ("asc", "desc"):
            lists.append(many(f"sort {sort} {order}", sortBy=sort, sortOrder=order))
    terms = {
        "word, 10 hits": "quokka",
        "word, 100 hits": "zanzibar",
        "word, 1,000 hits": "Marzipan",
        "word, 10,000 hits": "lighthouse",
        "word, 50,000 hits": "harvest",
        "word, 300,000 hits": "spring",
        "word, 500 hits, all old": "migrated",
        "word, 5,000 hits, all old": "imported",
        "word, 50,000 hits, all old": "legacy",
        "word in every link": "https",
        "no hit": "xylophone",
        "two words": "lighthouse spring",
        "two common words": "winter summer",
        "part of a URL": "course/latest?id=12",
        "a pasted URL": "https://www.example.com/course/latest",
        "a pasted host": "https://news.example.co.uk/",
        "part of a code": "xk7q",
        "% literal": "100%",
        "_ literal": "a_b",
        "% 200 times": "%" * 200,
        "1 character": "a",
        "1 character, rare": "~",
        "1 character, CJK": "東",
        "2 characters": "ab",
        "2 characters, rare": "zq",
        "2 characters, none": "é!",
        "punctuation in every link": "://",
        "punctuation": "?q=",
        "2 characters, CJK": "東京",
    }
    lists += [many(f"search {name}", search=term) for name, term in terms.items()]
    for sort in ("clickCount", "title"):
        for hits, term in (("1,000", "marzipan"), ("5,000, all old", "imported"), ("10,000", "lighthouse")):
            lists.append(many(f"search {hits} hits by {sort}", search=term, sortBy=sort))
    lists += [
        many("search 1,000 hits, page 40", search="marzipan", page=40),
        many("search 10,000 hits, page 100", search="lighthouse", page=100),
        many("search 300,000 hits, page 100", search="spring", page=100),
        many("search 50,000 hits, page 1,000", search="harvest", page=1000),
        many("tag, 50 links", tags="board"),
        many("tag, 5,000 links, page 125", tags="q3 launch", page=125),
        many("tag, 5,000 links, inactive", tags="q3 launch", isActive="false"),
        many("tag, 300,000 links, page 100", tags="marketing", page=100),
        many("tag, 300,000 links, page 7,500", tags="marketing", page=7500),
        many("tags, two rare", tags="board,q3 launch"),
        many("tag, 5,000 links", tags="q3 launch"),
        many("tag, 300,000 links", tags="marketing"),
        many("tags, rare and common", tags="board,marketing"),
        many("inactive", isActive="false"),
        many("active by status", status="active"),
        many("disabled by status", status="disabled"),
        many("used up, by status", status="limit_reached"),
        many("search common with tag, active by status", search="spring", tags="marketing", status="active"),
        many("expiring", expiresWithin=7),
        many("inactive by title", isActive="false", sortBy="title"),
        many("inactive by clickCount", isActive="false", sortBy="clickCount"),
        many("inactive, last page", isActive="false", page=1000),
        many("search rare, active", search="zanzibar", isActive="true"),
        many("search common, inactive", search="spring", isActive="false"),
        many("search 1 character, inactive", search="a", isActive="false"),
        many("search + tag", search="spring", tags="q3 launch"),
        *_of_periods(links),
        *_on_domains(),
    ]
    for owner, size in (("some", SOME), ("few", FEW)):
        for name, term in {"rare": "quokka", "common": "spring", "common elsewhere only": "festival"}.items():
            lists.append(Shape(f"{size:,} links: search {name}", owner, {"search": term}))
        lists.append(Shape(f"{size:,} links: tag", owner, {"tags": "marketing"}))
    return lists


def _of_periods(links: int) -> list[Shape]:
    """Lists of the links that were created in the middle, and of the older half. Each day has the same number."""

    middle = datetime.now(UTC) - timedelta(days=DAYS / 2)

    def days(count: float) -> dict[str, str]:
        end = middle + timedelta(days=count)
        return {"createdFrom": middle.isoformat(), "createdBefore": end.isoformat()}

    older_half = {"createdBefore": middle.isoformat()}
    periods = {
        "0.05 %": days(DAYS / 2000),
        "1 %": days(DAYS / 100),
        "4 %": days(DAYS / 25),
        "50 %": older_half,
    }
    lists = [
        Shape(f"dates, {share} of the links by {sort}", "many", {"sortBy": sort, **period})
        for share, period in periods.items()
        for sort in ("createdAt", "title", "clickCount")
    ]
    pages = links // 25 // 20 - 1
    lists.append(Shape("dates, 4 %, last page", "many", {"page": pages, **days(DAYS / 25)}))
    for name, filters in {"word": {"search": "spring"}, "tag": {"tags": "marketing"}}.items():
        lists.append(Shape(f"dates, 1 % + common {name}", "many", {**filters, **days(DAYS / 100)}))
    lists.append(Shape("dates, 1 % + rare word", "many", {"search": "quokka", **days(DAYS / 100)}))
    return lists


def _on_domains() -> list[Shape]:
    """Lists of the links on a domain with many or few of them, and of the default domain's."""
    domains = {host.split(".")[0]: str(Domain.objects.get(host=host).public_id) for host in DOMAINS}
    lists = []
    for name, identifier in {**domains, "default": BASE_ID}.items():
        filters: dict[str, dict[str, Any]] = {
            "by createdAt": {},
            "by title": {"sortBy": "title"},
            "by clickCount": {"sortBy": "clickCount"},
            "inactive": {"isActive": "false"},
            "page 400": {"page": 400},
            "rare word": {"search": "quokka"},
            "10,000 hits": {"search": "lighthouse"},
            "10,000 hits by title": {"search": "lighthouse", "sortBy": "title"},
            "common word": {"search": "spring"},
            "no hit": {"search": "xylophone"},
            "tag": {"tags": "q3 launch"},
            "common tag by clickCount": {"tags": "marketing", "sortBy": "clickCount"},
            "since the middle": {"createdFrom": (datetime.now(UTC) - timedelta(days=DAYS / 2)).isoformat()},
        }
        lists += [
            Shape(f"domains, {name}, {filter_name}", "many", {"domainId": identifier, **query})
            for filter_name, query in filters.items()
        ]
    return lists
