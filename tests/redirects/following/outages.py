"""Outages of the database and lost connections, as visitors notice them."""

from collections.abc import Callable
from typing import Any

from django.db import close_old_connections
from django.http import HttpResponse

MakeLink = Callable[..., dict[str, Any]]
Visit = Callable[[], HttpResponse]


def serve(visit: Visit) -> HttpResponse:
    """Run a request with the signals of a server, which the test client omits."""
    close_old_connections()
    try:
        return visit()
    finally:
        close_old_connections()
