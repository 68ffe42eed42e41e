"""The admin as an operator's browser uses it."""

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
    """Logged in; every form it sends has the token of the form."""

    def see(self, page: str, **query: Any) -> Any:
        response = self.get(f"/admin/{page}", query)
        assert response.status_code == 200, (page, response.status_code)
        return response

    def rows(self, page: str, **query: Any) -> list[Any]:
        """What a list shows."""
        return list(self.see(page, **query).context["cl"].result_list)

    def queries(self, page: str, **query: Any) -> int:
        """How many a page takes, the two for who asks included."""
        self.see(page, **query)
        with CaptureQueriesContext(
            connection,
        ) as captured:
            self.see(page, **query)
        return len(captured)

    def send(self, page: str, **fields: Any) -> Any:
        self.get("/admin/password_change/")
        token = self.cookies["csrftoken"].value
        return self.post(f"/admin/{page}", {"csrfmiddlewaretoken": token, **fields})

    def act(self, page: str, action: str, chosen: Iterable[Any], **fields: Any) -> Any:
        """An action on what is ticked in a list."""
        ticked = [str(each.pk) for each in chosen]
        return self.send(page, action=action, _selected_action=ticked, **fields)


def told(response: HttpResponse) -> list[str]:
    """What the next page says about what was done."""
    return [str(message) for message in get_messages(response.wsgi_request)]  # type: ignore[attr-defined]


def audit() -> list[tuple[str, str, str]]:
    """Who did what to which, the latest last."""
    entries = LogEntry.objects.select_related("user").order_by("pk")
    return [(entry.user.email, entry.object_repr, entry.get_change_message()) for entry in entries]
