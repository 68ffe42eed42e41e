"""JSON arrays whose cost does not grow with the number of errors in them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from common.errors import MAX_REPORTED

# Error code of an entry whose text is the number of omitted errors. `common.rest.envelope` reads it.
MORE_ERRORS = "more_errors"


def more_errors(number: int) -> serializers.ErrorDetail:
    return serializers.ErrorDetail(str(number), code=MORE_ERRORS)


class List(serializers.ListField):
    """Checks its length before validating items. Keeps the details of the first invalid items and counts the rest."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            self.fail("not_a_list", input_type=type(data).__name__)
        if self.max_length is not None and len(data) > self.max_length:
            # ListField's own validator runs only after the validation of every item.
            raise serializers.ValidationError(
                f"Ensure this field has no more than {self.max_length} elements.", code="max_length"
            )
        validated: list[Any] = []
        errors: dict[Any, Any] = {}
        more = 0
        validate = self.child.run_validation
        for index, item in enumerate(data):
            try:
                validated.append(validate(item))
            except serializers.ValidationError as error:
                if len(errors) < MAX_REPORTED:
                    errors[index] = error.detail
                else:
                    more += 1
        if more:
            errors["more"] = [more_errors(more)]
        if errors:
            raise serializers.ValidationError(errors)
        return validated
