"""An account that reads and changes itself."""

from __future__ import annotations

from typing import Any


def errors(response: Any) -> list[tuple[str, str]]:
    assert response.status_code == 400
    return [(error["field"], error["code"]) for error in response.json()["errors"]]
