"""The description of a page of a list."""

from __future__ import annotations

from common.openapi.response_fields import count, flag, number
from common.openapi.responses import Representation


def pagination_representation(component: str, is_capped: str | None = None) -> Representation:
    """The description of ``pagination``; ``is_capped`` describes ``totalIsCapped``, if the list has that key."""
    capped = [] if is_capped is None else [flag("totalIsCapped", None, help_text=is_capped, required=False)]
    return Representation(
        component,
        number("page", None, 1, min_value=1),
        number("limit", None, 20, min_value=1),
        count("total", example=1),
        count("pages", example=1),
        *capped,
    )
