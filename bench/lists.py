"""How long each kind of list takes, through the whole stack."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any, NamedTuple

from django.db import connection

from accounts.models import User
from accounts.services import rotate_api_key
from bench.load import FEW, SOME
from bench.wsgi_call import Caller

LIMIT_MS = 50
WARM_UP = 5


class Shape(NamedTuple):
    name: str
    owner: str
    query: dict[str, Any]


def shapes(links: int) -> list[Shape]:
    def many(name: str, **query: Any) -> Shape:
        return Shape(name, "many", query)

    found = [Shape(f"first page of {FEW} links (baseline)", "few", {}), many("first page")]
    found += [many("last page", page=links // 20), many("middle page", page=links // 40)]
    for sort in ("createdAt", "clickCount", "title"):
        for order in ("asc", "desc"):
            found.append(many(f"sort {sort} {order}", sortBy=sort, sortOrder=order))
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
    found += [many(f"search {name}", search=term) for name, term in terms.items()]
    for sort in ("clickCount", "title"):
        for hits, term in (("1,000", "marzipan"), ("5,000, all old", "imported"), ("10,000", "lighthouse")):
            found.append(many(f"search {hits} hits by {sort}", search=term, sortBy=sort))
    found += [
        many("search 1,000 hits, page 40", search="marzipan", page=40),
        many("search 10,000 hits, page 100", search="lighthouse", page=100),
        many("search 300,000 hits, page 100", search="spring", page=100),
        many("tag, 50 links", tags="board"),
        many("tag, 5,000 links", tags="q3 launch"),
        many("tag, 300,000 links", tags="marketing"),
        many("tags, rare and common", tags="board,marketing"),
        many("inactive", isActive="false"),
        many("inactive by title", isActive="false", sortBy="title"),
        many("inactive by clickCount", isActive="false", sortBy="clickCount"),
        many("inactive, last page", isActive="false", page=1000),
        many("search rare, active", search="zanzibar", isActive="true"),
        many("search common, inactive", search="spring", isActive="false"),
        many("search 1 character, inactive", search="a", isActive="false"),
        many("search + tag", search="spring", tags="q3 launch"),
    ]
    for owner, size in (("some", SOME), ("few", FEW)):
        for name, term in {"rare": "quokka", "common": "spring", "common elsewhere only": "festival"}.items():
            found.append(Shape(f"{size:,} links: search {name}", owner, {"search": term}))
        found.append(Shape(f"{size:,} links: tag", owner, {"tags": "marketing"}))
    return found


def run(owners: dict[str, User], links: int, requests: int, only: str) -> None:
    callers = {name: Caller(rotate_api_key(user=owners[name])) for name in ("many", "some", "few")}
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 2000")  # As in production.
        cursor.execute("SELECT pg_backend_pid()")
        backend = Path(f"/proc/{cursor.fetchone()[0]}/schedstat")
    print(f"{'list':<42} {'total':>9} {'median ms':>10} {'p99 ms':>8} {'CPU ms':>8}  under {LIMIT_MS} ms p99")
    baseline = 0.0
    for shape in shapes(links):
        if only not in shape.name:
            continue
        caller, walls, cpus, pagination = callers[shape.owner], [], [], {}
        for number in range(WARM_UP + requests):
            before = _cpu(backend)
            status, body, seconds = caller.get("/api/urls", **shape.query)
            if status != 200:
                print(f"{shape.name:<42} {status} {body.get('message')}")
                break
            if number >= WARM_UP:
                walls.append(seconds * 1000)
                cpus.append((_cpu(backend) - before) * 1000)
            pagination = body["data"]["pagination"]
        else:
            median, p99 = statistics.median(walls), sorted(walls)[int(0.99 * len(walls))]
            baseline = baseline or median
            total = f"{pagination['total']:,}{'+' if pagination.get('totalIsCapped') else ''}"
            print(
                f"{shape.name:<42} {total:>9} {median:>10.1f} {p99:>8.1f} {statistics.median(cpus):>8.1f}  "
                f"{'yes' if p99 < LIMIT_MS else 'NO '}  {median / baseline:5.1f} x baseline",
                flush=True,
            )


def _cpu(backend: Path) -> float:
    """Seconds of processor time of this thread and of its database process: what a neighbour cannot inflate much."""
    return time.thread_time() + int(backend.read_text().split()[0]) / 1e9
