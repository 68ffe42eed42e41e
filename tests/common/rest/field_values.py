"""Fields."""

from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.fields import Field


def codes(field: Field[Any, Any, Any, Any], value: object) -> list[str]:
    """The error codes for ``value``; empty if the field accepts it."""
    try:
        field.run_validation(value)
    except ValidationError as refused:
        return [detail["code"] for detail in refused.get_full_details()]
    return []
