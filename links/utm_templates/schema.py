"""The OpenAPI description of the endpoints under /api/utm-templates."""

from __future__ import annotations

from common.openapi.error_examples import invalid
from common.openapi.operations import Operation, describe
from links.utm_templates.services import MAX_TEMPLATES, TemplateExists, TooManyTemplates

_TEMPLATE = {
    "name": "Newsletter",
    "values": {"source": "newsletter", "medium": "email"},
    "allowedValues": {"source": ["newsletter", "shop"]},
}
_CONTRADICTION = invalid(
    "values.source", "not_allowed", "The template Newsletter allows only newsletter and shop."
)

describe_utm_templates = describe(
    "Links",
    of="UTM template",
    list=Operation(
        "listUtmTemplates",
        "List the UTM templates of the workspace, by name.",
        "All of them.",
        description="All members of the workspace see them.",
        component="UtmTemplates",
    ),
    retrieve=Operation(
        "getUtmTemplate", "Read a UTM template.", "The template.", description="Its values and rules."
    ),
    create=Operation(
        "createUtmTemplate",
        "Create a UTM template.",
        "The new template.",
        description="Links, bulk calls and imports name it as `utmTemplateId`. The links get its values, and are"
        " refused if a parameter, of `utm` or of a destination itself, has another value than the allowed ones. A"
        f" workspace has at most {MAX_TEMPLATES} templates.",
        examples=[_TEMPLATE],
        errors=[_CONTRADICTION, TemplateExists(), TooManyTemplates()],
    ),
    partial_update=Operation(
        "updateUtmTemplate",
        "Change a UTM template.",
        "The template.",
        description="Fields that are not sent keep their values, and sent objects are replaced as a whole. Links stay"
        " as they are.",
        examples=[{"name": "Newsletter 2"}],
        errors=[_CONTRADICTION, TemplateExists()],
    ),
    destroy=Operation(
        "deleteUtmTemplate",
        "Delete a UTM template.",
        "The template is deleted.",
        description="Links stay as they are.",
    ),
)
