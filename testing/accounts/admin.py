"""A client of the admin that behaves like an operator's browser."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.messages import get_messages
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext


class Operator(Client):
    """Logged in. Sends every form with its CSRF token."""

    def see(self, page: str, **query: Any) -> Any:
        response = self.get(f"/admin/{page}", query)
        assert response.status_code == 200, (page, response.status_code)
        return response

    def rows(self, page: str, **query: Any) -> list[Any]:
        """The rows that a list shows."""
        return list(self.see(page, **query).context["cl"].result_list)

    def queries(self, page: str, **query: Any) -> int:
        """The number of queries of a page, including the two that identify the operator."""
        self.see(page, **query)
        with CaptureQueriesContext(connection) as captured:
            self.see(page, **query)
        return len(captured)

    def send(self, page: str, **fields: Any) -> Any:
        self.get("/accounts/logout/")
        token = self.cookies["csrftoken"].value
        return self.post(f"/admin/{page}", {"csrfmiddlewaretoken": token, **fields})

    def act(self, page: str, action: str, rows: Iterable[Any], **fields: Any) -> Any:
        """Apply an action to these rows of a list."""
        keys = [str(row.pk) for row in rows]
        return self.send(page, action=action, _selected_action=keys, **fields)


def messages_of(response: HttpResponse) -> list[str]:
    """The messages that the next page shows."""
    return [str(message) for message in get_messages(response.wsgi_request)]


def audit() -> list[tuple[str, str, str]]:
    """The log entries, oldest first: operator, object and message."""
    entries = LogEntry.objects.select_related("user").order_by("pk")
    return [(entry.user.email, entry.object_repr, entry.get_change_message()) for entry in entries]
