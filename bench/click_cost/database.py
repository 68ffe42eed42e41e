"""The bytes by which a click makes the database and its log larger."""

from __future__ import annotations

from bench.harness.results import record
from bench.harness.running import drained
from testing.proof.site import Site

WARM_CLICKS = 2_000
FEW_LINKS = 2_000
LARGEST_TABLES = 4
SIZES = """
    SELECT coalesce(parent.relname, name.relname), sum(pg_total_relation_size(name.oid))::bigint
    FROM pg_class name
    LEFT JOIN pg_inherits ON inhrelid = name.oid LEFT JOIN pg_class parent ON parent.oid = inhparent
    WHERE name.relkind = 'r' AND name.relnamespace = 'public'::regnamespace GROUP BY 1
"""


def counted_clicks(site: Site) -> int:
    [(clicks,)] = site.rows("SELECT coalesce(sum(clicks), 0)::bigint FROM links_clickcounter")
    return int(clicks)


def log_bytes(site: Site) -> int:
    """Return the bytes of the database's log since the cluster was created."""
    [(size,)] = site.rows("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint")
    return int(size)


def measure(site: Site, clicks: int) -> None:
    from django.db import connection

    from bench.load.backlog import write_backlog
    from bench.load.plain_links import plain_links
    from bench.load.traffic import Traffic

    ids = plain_links(clicks)
    connection.close()
    figures = []
    for name, traffic in (
        ("one link", Traffic(ids[:1])),
        (f"{FEW_LINKS:,} links by Zipf", Traffic(ids[1 : FEW_LINKS + 1])),
        (f"{clicks:,} links at random", Traffic(ids, uniform=True)),
    ):
        # The first clicks allocate the first pages of tables and partitions.
        write_backlog(site.clicks_dir, traffic, WARM_CLICKS)
        drained(site)
        before, clicks_before = dict(site.rows(SIZES)), counted_clicks(site)
        log_before = log_bytes(site)
        write_backlog(site.clicks_dir, traffic, clicks)
        journal = sum(path.stat().st_size for path in site.clicks_dir.glob("*.segment"))
        drained(site)
        counted = counted_clicks(site) - clicks_before
        growth = {table: (size - before.get(table, 0)) / counted for table, size in site.rows(SIZES)}
        largest = sorted(growth, key=growth.__getitem__, reverse=True)[:LARGEST_TABLES]
        tables = ", ".join(f"`{table}` {growth[table]:.0f}" for table in largest)
        figures.append(
            f"{name}: {sum(growth.values()):.0f} ({tables}), log {(log_bytes(site) - log_before) / counted:.0f}"
        )
        print(
            f"bytes per click, {counted:,} clicks on {figures[-1]}, at most {journal / counted:.0f} in the journal",
            flush=True,
        )
    record("clicks-bytes", f"{clicks:,} clicks on {'; '.join(figures)}")
