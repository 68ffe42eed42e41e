"""The environment variables that set the number of processes, their memory and their limits."""

from __future__ import annotations

import os

from local_postgres.memory import available_mb
from shortener_project.configuration.declaration import Group

SMALL_MB = 512

processes = Group("Processes and memory")
SMALL = processes.flag(
    "SMALL",
    "Whether this host is small: one processor and 512 MB of memory. It sets the defaults of `WEB_CONCURRENCY`, "
    "`API_CONCURRENCY` and `DESTINATIONS_MB`, and the sizes of the embedded PostgreSQL, as on such a host.",
)


def memory_mb() -> int:
    """The memory for which the service sizes itself: of the machine, or of its container or unit if that has less."""
    return min(available_mb(), SMALL_MB) if SMALL.read() else available_mb()


def _one_per_processor() -> int:
    return 1 if SMALL.read() else min(os.cpu_count() or 1, 16)


WEB_CONCURRENCY = processes.integer(
    "WEB_CONCURRENCY",
    _one_per_processor,
    "Processes that serve redirects. Each has four threads and up to four database connections.",
    minimum=1,
    maximum=256,
    shown="one per processor, at most 16",
)
API_CONCURRENCY = processes.integer(
    "API_CONCURRENCY",
    _one_per_processor,
    "Processes that serve everything else, with as many threads and one more for `/readyz` and the internal listener. "
    "0: the redirect processes serve everything.",
    maximum=256,
    shown="one per processor, at most 16",
)
DESTINATIONS_KEPT = processes.integer(
    "DESTINATIONS_KEPT", 250_000, "Links that each process caches in memory, at most.", minimum=100
)
API_QUEUE_SECONDS = processes.integer(
    "API_QUEUE_SECONDS",
    10,
    "Longest time in seconds that a request waits for a thread; it then gets 503 with `Retry-After`.",
    minimum=1,
)
SILENCE_SECONDS = processes.integer(
    "SILENCE_SECONDS",
    60,
    "Restart a process of this host that has shown no sign of life for so many seconds beyond the time limit of its "
    "SQL statements.",
    minimum=5,
)
CONNECTIONS_PER_ADDRESS = processes.integer(
    "CONNECTIONS_PER_ADDRESS",
    1_000,
    "Open connections of one client address (IPv6: one /64) in one process, proxies excepted; 0: no limit.",
)
DESTINATIONS_MB = processes.integer(
    "DESTINATIONS_MB",
    lambda: max(16, min(memory_mb() // 16, 256)),
    "Memory in MB for the cached links of each process, at most.",
    minimum=1,
    shown="256, or a sixteenth of the memory if that is less",
)
FAST_LANE = processes.choice(
    "FAST_LANE",
    ("yes", "no"),
    "`yes`: serve most redirects in an event loop, without Django. `no`: serve everything with gunicorn's `gthread` "
    "workers. Both answer the same.",
)
COMPILED_LOOP = processes.choice(
    "COMPILED_LOOP",
    ("auto", "off"),
    "`auto`: serve known links with the compiled event loop if it is installed (`make accelerate`). `off`: always use "
    "Python. Both do the same.",
)
STALE_SECONDS = processes.integer(
    "STALE_SECONDS",
    3_600,
    "While the database is unreachable, how long in seconds this host redirects the links that it has cached, counted "
    "from the last contact with the database, or from an earlier loss of contact if the host has not read the link "
    "again since.",
)
