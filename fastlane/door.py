"""The door between Django and the fast lane: `shortener_project.gunicorn_conf` alone imports it, if FAST_LANE says so.

Django needs nothing of the lane: a request that the lane does not answer itself reaches the WSGI application as any
other, with the connection's own socket, which tells the internal listener from the public one. So without this package
the service does the same, only slower.

The lane needs of Django, besides the settings and `common`: the checks, refusals, routing and pages of `redirects`,
the look-up and the claims of `links.destinations`, and the journal and visitors of `analytics`. It must not use the
views; `.importlinter` enforces both directions.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings

from common.host.processes import rename
from fastlane.handoff.between_processes import handoff_queues
from fastlane.warm_start import loaders

WORKER_CLASS = "fastlane.worker.Worker"


def prepare() -> None:
    """Create what all workers share. Call it in gunicorn's main process before the first fork."""
    handoff_queues()


def assign_role(server: Any, worker: Any) -> None:
    """Give the new worker the role of the worker that died or, on a reload, of the oldest worker."""
    workers = settings.WEB_CONCURRENCY + settings.API_CONCURRENCY
    if settings.API_CONCURRENCY:
        others = (
            sorted(server.WORKERS.values(), key=lambda other: other.age)[1 - workers :] if workers > 1 else []
        )
        redirecting = sum(other.role == "redirect" for other in others)
        worker.role = "redirect" if redirecting < settings.WEB_CONCURRENCY else "api"
    if worker.role != "api":
        loaders().prepare()


def name_process(worker: Any) -> None:
    rename("worker" if worker.role == "both" else f"{worker.role} worker")
