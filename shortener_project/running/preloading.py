"""Imports everything that the service's processes use, before `serve` forks them: they share this memory."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager
from importlib import import_module
from typing import NoReturn

import django
from django.conf import settings

from common.host import metric_files

# The commands that run as processes of the service.
CHECK_DESTINATIONS = "links.management.commands.check_destinations"
DELIVER_EVENTS = "events.management.commands.deliver_events"
DRAIN_CLICKS = "analytics.management.commands.drain_clicks"
FOLLOW_CHANGES = "links.management.commands.follow_changes"
HOUSEKEEPING = "shortener_project.management.commands.housekeeping"
PREPARE_DATABASE = "shortener_project.management.commands.prepare_database"
RECHECK_DOMAINS = "domains.management.commands.recheck_domains"
_MODULES = (
    *("shortener_project.wsgi", "shortener_project.management.commands.serve"),
    *(CHECK_DESTINATIONS, DELIVER_EVENTS, DRAIN_CLICKS, FOLLOW_CHANGES),
    *(HOUSEKEEPING, PREPARE_DATABASE, RECHECK_DOMAINS),
)


@contextmanager
def preloading() -> Iterator[Callable[[], object]]:
    """Import the service in a thread. The block receives a function that waits for its end.

    The caller starts the embedded database meanwhile, which takes as long.
    """
    with _shared_metrics():
        executor = futures.ThreadPoolExecutor(1)
        worker = "fastlane.worker" if settings.FAST_LANE else "gunicorn.workers.gthread"
        imports = executor.submit(import_apps, (*_MODULES, worker))

        def wait() -> None:
            imports.result()
            # End the thread, too: afterwards this process forks.
            executor.shutdown()

        try:
            yield wait
        finally:
            # If the interpreter ends while the thread imports, each can wait forever for a lock of logging that the
            # other holds. So wait for the imports first: before Python 3.13, a signal that interrupts the wait for a
            # thread makes Python believe that the thread has ended (bpo-45274). Further signals act after the imports.
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT))
            try:
                futures.wait([imports])
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            executor.shutdown()


def import_apps(modules: Sequence[str] = ()) -> None:
    """Load Django's apps, then these modules, and keep the garbage collector from visiting them, even at the exit.

    Almost everything that an import creates stays. The collector would visit all of it several times, which takes a
    fifth of the processor time of a start.
    """
    gc.disable()
    try:
        django.setup()
        for name in modules:
            import_module(name)
        gc.freeze()
    finally:
        gc.enable()


def freeze() -> None:
    """Keep the garbage collector of each fork from writing to the shared memory."""
    gc.collect()
    gc.freeze()


def exit_without_metrics(error: OSError) -> NoReturn:
    sys.exit(f"error: Cannot create the metrics folder: {error}")


@contextmanager
def _shared_metrics() -> Iterator[None]:
    """The folder of the metrics of all processes. The apps read the variable when they load.

    Another service may use the folder, so keep its files: `serve` removes old ones once it has its sockets.
    """
    try:
        metric_files.create(settings.METRICS_DIR)
    except OSError as error:
        exit_without_metrics(error)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(settings.METRICS_DIR)
    try:
        yield
    finally:
        metric_files.remove(settings.METRICS_DIR)
