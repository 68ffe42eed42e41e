from __future__ import annotations

from typing import Any

from django.db import models


class Json(models.JSONField):
    """A column of the type json, which is cheaper to write than jsonb. psycopg parses it, unlike jsonb."""

    def db_type(self, connection: Any) -> str:
        return "json"

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return value
