"""The tools: what each is called, and which action of the API it calls.

An argument is a field of the body, a parameter of the query or a part of the path of that action, and its schema is
that of the API's description. Tools name the most used ones. The others work, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import unquote

from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api_requests.permissions import HasRole
from accounts.callers import workspace_of
from agents import results
from agents.results import Result
from analytics.reports.groups import GROUPS
from analytics.views import AnalyticsViewSet
from common.errors import FieldError, Forbidden, InvalidFields, NotFound, Unavailable
from common.http.client_address import address_of_client, customer_network
from common.openapi.generated import generate
from common.rest.envelope import error_body
from common.rest.inner_calls import Action
from links.tags.texts import text_of
from links.views import LinkViewSet
from qrcodes.design import ImageFormat
from qrcodes.drawing import CONTENT_TYPES, drawing_queue, render
from qrcodes.selectors import get_file
from qrcodes.views import QrCodeViewSet
from redirects.simulation.views import SimulationViewSet

Arguments = dict[str, Any]

_CREATE = Action(LinkViewSet, "create", "post", "/api/urls")
_UPDATE = Action(LinkViewSet, "partial_update", "patch", "/api/urls/{id}")
_LIST = Action(LinkViewSet, "list", "get", "/api/urls")
_DOMAINS = Action(LinkViewSet, "available_domains", "get", "/api/urls/domains/available")
_SIMULATE = Action(SimulationViewSet, "simulate", "post", "/api/urls/{id}/simulate")
_REPORT = Action(AnalyticsViewSet, "list", "get", "/api/analytics")
_REPORT_OF_LINK = Action(AnalyticsViewSet, "retrieve", "get", "/api/analytics/{urlId}")
_QR_CODE = Action(QrCodeViewSet, "create", "post", "/api/qr-codes")

# `date` is the curve. The rest are groups of the API, of which one link has some.
_DIMENSIONS = (results.DATE, *GROUPS)
_ID = {"type": "string", "description": "The `_id` of the link, as `find_links` returns it."}
_CURSOR = {
    "type": "string",
    "description": "The `nextCursor` of the previous result, with the same other arguments.",
}
_IDEMPOTENCY_KEY = {
    "type": "string",
    "description": "Any text that is new for each object, such as a UUID. Repeating the call with the same one and the"
    " same arguments creates nothing twice.",
}


class Tool(NamedTuple):
    """``action`` decides who may use the tool. ``names`` are the arguments that the action declares.

    ``added`` are the tool's own arguments by name, of which ``required`` must be present. ``hints`` are those of the
    protocol's annotations: what the tool does to the stored objects.
    """

    title: str
    description: str
    action: Action
    call: Callable[[Request, Arguments], Result]
    names: str
    added: Mapping[str, Any] = {}
    required: tuple[str, ...] = ()
    hints: Mapping[str, bool] = {"readOnlyHint": True}


def _create_link(request: Request, arguments: Arguments) -> Result:
    response = _CREATE.call(request, **_key_and_body(arguments))
    is_new = response.status_code == 201
    return _shown(response, lambda data: results.created_link(data, is_new=is_new))


def _update_link(request: Request, arguments: Arguments) -> Result:
    identifier = _id_of(arguments)
    return _called(_UPDATE, request, results.updated_link, body=arguments, id=identifier)


def _find_links(request: Request, arguments: Arguments) -> Result:
    response = _LIST.call(request, query=_query(arguments))
    return _shown(response, lambda data: results.found_links(data, _next_cursor(response)))


_NEXT = re.compile(r'[?&]cursor=([^&>]+)[^>]*>; rel="next"')


def _next_cursor(response: Response) -> str | None:
    """That of the header ``Link``, if the list goes on."""
    found = _NEXT.search(response.headers.get("Link", ""))
    return None if found is None else unquote(found[1])


def _link_stats(request: Request, arguments: Arguments) -> Result:
    # A report as a file is no result.
    query = {**_query(arguments), "format": "json"}
    identifier, dimension = query.pop("id", None), query.pop("dimension", None)
    if dimension is not None and dimension not in _DIMENSIONS:
        message = f"Must be one of {', '.join(_DIMENSIONS)}."
        raise InvalidFields([FieldError("dimension", "invalid_choice", message)])
    if dimension not in (None, results.DATE):
        query["groupBy"] = dimension

    def shown(data: Mapping[str, Any]) -> Result:
        return results.report(data, dimension)

    if identifier is None:
        return _called(_REPORT, request, shown, query=query)
    return _called(_REPORT_OF_LINK, request, shown, query=query, urlId=identifier)


def _explain_link(request: Request, arguments: Arguments) -> Result:
    identifier = _id_of(arguments)
    return _called(_SIMULATE, request, results.explanation, body=arguments, id=identifier)


def _make_qr(request: Request, arguments: Arguments) -> Result:
    arguments["urlId"] = _id_of(arguments)

    def shown(data: Mapping[str, Any]) -> Result:
        image_format = data["qrCode"]["format"]
        return results.qr_code(data, _image(request, data["qrCode"]), CONTENT_TYPES[image_format])

    return _called(_QR_CODE, request, shown, **_key_and_body(arguments))


def _image(request: Request, code: Mapping[str, Any]) -> bytes | None:
    """The image of a code that the caller has just created, for models: they see pixels only."""
    if code["format"] not in (ImageFormat.PNG, ImageFormat.JPEG):
        return None
    network = customer_network(address_of_client(request))
    try:
        whole = get_file(workspace_of(request), str(code["_id"]))
        return drawing_queue.image(bytes(whole.digest), network, lambda: render(whole.content, whole.design))
    except (NotFound, Unavailable):
        # The address is in the result: the service draws too many images, or a repeated call told of a deleted code.
        return None


def _list_domains(request: Request, arguments: Arguments) -> Result:
    query = _query(arguments)
    first = _number_of(query.pop("cursor", "0"))
    return _called(_DOMAINS, request, lambda data: results.domains(data, first), query=query)


_ADDS = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False}
_CHANGES = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True}
_OF_LINKS = "title tags startsAt expiresAt password utm restrictions redirectType"

TOOLS: Mapping[str, Tool] = {
    "create_link": Tool(
        "Create a short link",
        "Create a short link to a URL, with a custom code if you want one.",
        _CREATE,
        _create_link,
        f"originalUrl customCode domainId externalId findIfExists {_OF_LINKS}",
        added={"idempotencyKey": _IDEMPOTENCY_KEY},
        hints=_ADDS,
    ),
    "update_link": Tool(
        "Change a short link",
        "Change a link. Fields that you leave out keep their values, and null removes a value.",
        _UPDATE,
        _update_link,
        f"targetUrl customCode isActive isArchived {_OF_LINKS}",
        added={"id": _ID},
        required=("id",),
        hints=_CHANGES,
    ),
    "find_links": Tool(
        "Find short links",
        "Find links by text, short URL, tags, status or time, the newest first. Long texts are cut and end with an"
        " ellipsis.",
        _LIST,
        _find_links,
        "search tags tagsMode excludeTags status archived createdFrom createdBefore domainId externalId sortBy"
        " sortOrder limit",
        added={"cursor": _CURSOR},
    ),
    "link_stats": Tool(
        "Count clicks",
        "Clicks of one link, or of all links of the workspace: totals, and with a dimension the clicks by it. By"
        " default, a link's whole lifetime, and the last 30 days of a workspace.",
        _REPORT,
        _link_stats,
        "period startDate endDate timezone interval compare limit tags domainId country device channel referrer",
        added={
            "id": {**_ID, "description": f"{_ID['description']} Without it, all links."},
            "dimension": {"enum": list(_DIMENSIONS), "type": "string"},
        },
    ),
    "explain_link": Tool(
        "Explain where a link leads",
        "Explain where a described visitor of a link would end, and which check decides. Nothing is counted.",
        _SIMULATE,
        _explain_link,
        "country device language referrer query time unlocked address userAgent",
        added={"id": _ID},
        required=("id",),
    ),
    "make_qr": Tool(
        "Make a QR code",
        "Make a QR code of a link. PNG and JPEG are shown; each format has a public address.",
        _QR_CODE,
        _make_qr,
        "format size widthMm style foregroundColor backgroundColor margin errorCorrectionLevel frameText",
        added={"id": _ID, "idempotencyKey": _IDEMPOTENCY_KEY},
        required=("id",),
        hints=_ADDS,
    ),
    "list_domains": Tool(
        "List domains",
        "The domains on which links can be created. Their `id` is the `domainId` of other tools.",
        _DOMAINS,
        _list_domains,
        "",
        added={"cursor": _CURSOR},
    ),
}


def call_tool(request: Request, tool: Tool, arguments: Arguments) -> Result:
    try:
        return tool.call(request, dict(arguments))
    except InvalidFields as error:
        return results.refusal(error_body(error))


def listed_tools(request: Request) -> list[dict[str, Any]]:
    """The tools that the caller may use. Raises NotFound for a workspace of which the caller is not a member."""
    schemas = input_schemas()
    return [
        {
            "name": name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": schemas[name],
            # Tools concern the stored objects of one workspace, and nothing else in the world.
            "annotations": {"title": tool.title, "openWorldHint": False, **tool.hints},
        }
        for name, tool in TOOLS.items()
        if _may_use(request, tool)
    ]


def _may_use(request: Request, tool: Tool) -> bool:
    view = tool.action.view()
    view.action = tool.action.name
    try:
        return HasRole().has_permission(request, view)
    except Forbidden:
        return False


def _called(
    action: Action, request: Request, show: Callable[[Mapping[str, Any]], Result], **options: Any
) -> Result:
    return _shown(action.call(request, **options), show)


def _shown(response: Response, show: Callable[[Mapping[str, Any]], Result]) -> Result:
    if response.status_code >= 400:
        return results.refusal(response.data)
    return show(response.data["data"]).with_warnings(response.data)


def _id_of(arguments: Arguments) -> str:
    """Takes it out of the arguments."""
    identifier = arguments.pop("id", None)
    if not isinstance(identifier, str) or not identifier:
        raise InvalidFields([FieldError("id", "required", "The `_id` of a link is required, as a text.")])
    return identifier


def _key_and_body(arguments: Arguments) -> dict[str, Any]:
    key = arguments.pop("idempotencyKey", None)
    return {"body": arguments, "headers": {} if key is None else {"HTTP_IDEMPOTENCY_KEY": str(key)}}


def _number_of(cursor: str) -> int:
    if not re.fullmatch(r"[0-9]{1,7}", cursor):
        raise InvalidFields(
            [FieldError("cursor", "invalid", "Send the `nextCursor` of a result, or no cursor.")]
        )
    return int(cursor)


def _query(arguments: Arguments) -> dict[str, str]:
    return {name: _as_parameter(value) for name, value in arguments.items() if value is not None}


def _as_parameter(value: Any) -> str:
    """Models like to send lists for what queries separate by commas."""
    if isinstance(value, list):
        return text_of(map(_as_parameter, value))
    return value if isinstance(value, str) else json.dumps(value)


@cache
def input_schemas() -> dict[str, dict[str, Any]]:
    """The schema of the arguments of each tool, from the description of the API. Takes a quarter of a second."""
    actions = {tool.action for tool in TOOLS.values()}
    routes = [
        path(
            re.sub(r"\{(\w+)\}", r"<str:\1>", action.path[1:]),
            action.view.as_view({action.method: action.name}),
        )
        for action in actions
    ]
    description = generate(routes)
    components = description["components"]["schemas"]
    return {
        name: _input_schema(tool, description["paths"][tool.action.path][tool.action.method], components)
        for name, tool in TOOLS.items()
    }


def _input_schema(tool: Tool, operation: Mapping[str, Any], components: Mapping[str, Any]) -> dict[str, Any]:
    if "requestBody" in operation:
        body = _resolved(operation["requestBody"]["content"]["application/json"]["schema"], components)
        declared, required = body["properties"], body.get("required", [])
    else:
        parameters = operation["parameters"]
        declared = {
            parameter["name"]: {
                **_resolved(parameter["schema"], components),
                "description": parameter.get("description", ""),
            }
            for parameter in parameters
        }
        required = []
    properties = {**tool.added, **{name: declared[name] for name in tool.names.split()}}
    needed = [*tool.required, *(name for name in required if name in properties)]
    return {"type": "object", "properties": properties, **({"required": needed} if needed else {})}


def _resolved(schema: Any, components: Mapping[str, Any]) -> Any:
    """The schema without references, and without patterns that a model cannot read: the API checks values anyway."""
    if isinstance(schema, list):
        return [_resolved(item, components) for item in schema]
    if not isinstance(schema, dict):
        return schema
    own = {
        name: _resolved(value, components)
        for name, value in schema.items()
        if name != "$ref" and not (name == "pattern" and "\\" in value)
    }
    if "$ref" not in schema:
        return own
    return {**_resolved(components[schema["$ref"].rpartition("/")[2]], components), **own}
