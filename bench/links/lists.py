"""Latency of each kind of list, through the whole stack."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from django.db import connection

from accounts.models import User
from accounts.services import rotate_api_key
from bench.harness.results import record
from bench.harness.wsgi_call import Caller
from bench.links.list_shapes import Shape, shapes
from links.codes import short_url_of
from links.list_counts import kept_counts
from links.models import Link

LIMIT_MS = 50
WARM_UP = 5
# Requests that count the hits, as the first request after a change of the links does.
COUNTING = 20


# Rows of `bench.catalog` by the start of a list's name; all other lists go into the row "lists-others".
ROWS = {
    "lists-pages": ("first page", "last page", "sort "),
    "lists-searches": ("search word, 10 hits", "search part of a code", "search % literal", "search no hit"),
}


def run(owners: dict[str, User], links: int, requests: int, only: str) -> None:
    callers = {name: Caller(rotate_api_key(user=owners[name])) for name in ("many", "some", "few")}
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 2000")  # The default for requests.
        cursor.execute("SELECT pg_backend_pid()")
        backend = Path(f"/proc/{cursor.fetchone()[0]}/schedstat")
    print(f"{'list':<42} {'total':>9} {'median ms':>10} {'p99 ms':>8} {'CPU ms':>8}  under {LIMIT_MS} ms p99")
    baseline, slowest, counting = 0.0, dict.fromkeys((*ROWS, "lists-others"), 0.0), 0.0
    oldest = Link.objects.select_related("domain").filter(owner_id=owners["many"].pk).earliest("pk")
    address = Shape("search a short URL", "many", {"search": short_url_of(oldest)})
    for shape in [*shapes(links), address]:
        if only not in shape.name:
            continue
        caller, walls, cpus, pagination = callers[shape.owner], [], [], {}
        first = _counting(caller, shape)
        counting = max(counting, first)
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
                f"{'yes' if p99 < LIMIT_MS else 'NO '}  {median / baseline:5.1f} x baseline"
                + (f", counting {first:.1f} ms" if first else ""),
                flush=True,
            )
            row = next((key for key, starts in ROWS.items() if shape.name.startswith(starts)), "lists-others")
            slowest[row] = max(slowest[row], p99)
    for key, p99 in slowest.items():
        if p99:
            record(key, f"at most {p99:.0f} ms ({links:,} links)")
    if counting:
        record("lists-counting", f"at most {counting:.0f} ms ({links:,} links)")
    if not only:
        _walk(callers["many"], links)


def _counting(caller: Caller, shape: Shape) -> float:
    """The median latency in ms of a filtered list whose total is not known yet; 0 for a list that is not counted."""
    if not {"search", "tags", "createdBefore", "domainId"} & shape.query.keys():
        return 0.0
    seconds = []
    for _ in range(COUNTING):
        kept_counts.clear()
        seconds.append(caller.get("/api/urls", **shape.query)[2])
    return statistics.median(seconds) * 1000


def _walk(caller: Caller, links: int) -> None:
    """Read filtered lists page by page up to `pages`. Raises AssertionError unless every hit comes once."""
    walls: list[float] = []
    hits = 0
    for query in ({"tags": "q3 launch"}, {"search": "lighthouse"}, {"search": "harvest"}):
        ids: list[str] = []
        page = pages = 1
        while page <= pages:
            _, body, seconds = caller.get("/api/urls", limit=100, page=page, **query)
            ids += [url["_id"] for url in body["data"]["urls"]]
            page, pages = page + 1, body["data"]["pagination"]["pages"]
            walls.append(seconds * 1000)
        if not len(set(ids)) == len(ids) == body["data"]["pagination"]["total"]:
            raise AssertionError(
                f"{query}: {len(ids)} rows, {len(set(ids))} links, {body['data']['pagination']}"
            )
        hits += len(ids)
    p99 = sorted(walls)[int(0.99 * len(walls))]
    print(f"walked {hits:,} hits on {len(walls):,} pages, each once: p99 {p99:.1f} ms")
    record(
        "lists-walk", f"{hits:,} hits on {len(walls):,} pages, each once; p99 {p99:.0f} ms ({links:,} links)"
    )


def _cpu(backend: Path) -> float:
    """Seconds of processor time of this thread and its database process, which other load inflates little."""
    return time.thread_time() + int(backend.read_text().split()[0]) / 1e9
