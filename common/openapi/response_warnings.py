"""The description of the warnings in successful responses."""

from __future__ import annotations

from common.openapi.response_fields import number, text
from common.openapi.responses import Representation

_WARNING = Representation(
    "ResponseWarning",
    text("field", None, help_text="Path in the request body, or the name of a query parameter."),
    text("code", None, help_text="The kind of warning, for programs, such as `unknown_field`."),
    text("message", None, help_text="One sentence for people."),
)
# The optional keys of a response, and of each result of a bulk call.
WARNINGS = (
    _WARNING.listed("warnings", required=False, help_text="Problems that did not stop the request.")._replace(
        example=...
    ),
    number(
        "moreWarnings",
        None,
        help_text="The number of warnings that `warnings` omits.",
        required=False,
        min_value=1,
    ),
)
