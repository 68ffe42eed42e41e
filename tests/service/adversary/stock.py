"""gunicorn's own threaded worker, but for one fault."""

from __future__ import annotations

from typing import Any

from gunicorn.workers.gthread import ThreadWorker


class Stock(ThreadWorker):  # type: ignore[misc] # gunicorn carries no types
    def _keepalive_after(self, conn: Any, keepalive: bool) -> bool:
        """It would answer a request twice when the rest of it is wrong; behind a proxy, to somebody else."""
        try:
            return bool(super()._keepalive_after(conn, keepalive))
        except Exception:
            return False
