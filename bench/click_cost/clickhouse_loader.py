"""Loads logs into ClickHouse's engine (chdb). Runs alone, with the packages of `requirements.txt` beside it.

Each line of its input is a list of files, and each line of its output says what loading them took.
"""

import json
import resource
import sys
import time

from chdb.session import Session

TABLES = (
    """
    CREATE TABLE clicks (
        time DateTime64(3), link String, agent LowCardinality(String), referrer LowCardinality(String), visitor UInt64
    ) ENGINE = MergeTree PARTITION BY toYYYYMM(time) ORDER BY (link, time)
    """,
    # Exact visitors by link and day, and clicks by quarter of an hour.
    """
    CREATE MATERIALIZED VIEW days ENGINE = AggregatingMergeTree ORDER BY (link, day) AS
    SELECT link, toDate(time) AS day, countState() AS clicks, uniqExactState(visitor) AS visitors FROM clicks
    GROUP BY link, day
    """,
    """
    CREATE MATERIALIZED VIEW quarters ENGINE = SummingMergeTree ORDER BY (link, quarter) AS
    SELECT link, toStartOfFifteenMinutes(time) AS quarter, count() AS clicks FROM clicks GROUP BY link, quarter
    """,
    """
    CREATE MATERIALIZED VIEW counts ENGINE = SummingMergeTree ORDER BY (link, day, dimension, value) AS
    SELECT link, toDate(time) AS day, pair.1 AS dimension, pair.2 AS value, count() AS clicks FROM clicks
    ARRAY JOIN [(3, toString(agent)), (4, domain(toString(referrer)))] AS pair GROUP BY link, day, dimension, value
    """,
)
# The key of the visitor's hash is only for the shape of the work.
INSERT = """
INSERT INTO clicks SELECT toDateTime64(time, 3), link, agent, referrer,
    sipHash64Keyed((toUInt64(1), toUInt64(2)), link, address, agent)
FROM file('{path}', JSONEachRow, 'time Float64, link String, address String, agent String, referrer String')
"""
SIZE = "SELECT sum(bytes_on_disk), sumIf(rows, table = 'clicks') FROM system.parts WHERE active AND database = 'bench'"


def used() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def figures(session: Session, query: str) -> list[float]:
    return [float(word) for word in session.query(query, "TSV").data().split()]


def main() -> None:
    session = Session(sys.argv[1])
    session.query("CREATE DATABASE IF NOT EXISTS bench")
    session.query("USE bench")
    for table in TABLES:
        session.query(table)
    for line in sys.stdin:
        stored, clicks = figures(session, SIZE)
        before = used()
        for path in json.loads(line):
            session.query(INSERT.format(path=path))
        # The merges that these parts start are a part of the cost.
        while figures(session, "SELECT count() FROM system.merges") != [0]:
            time.sleep(0.05)
        seconds = used() - before
        stored_now, clicks_now = figures(session, SIZE)
        loaded = {"clicks": int(clicks_now - clicks), "seconds": seconds, "stored": stored_now - stored}
        print(json.dumps(loaded), flush=True)


if __name__ == "__main__":
    main()
