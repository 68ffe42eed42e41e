"""Where the documentation is, for programs: at the root of the API, and in /llms.txt (llmstxt.org)."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse

from common.error_catalogue import DOCS_PATH as ERRORS_PATH
from shortener_project.web.documents import DOCS_PATH, GUIDE_PATH, OPERATIONS_PATH, PAGES
from shortener_project.web.schema import PublicDocument
from shortener_project.web.well_known import on_own_hosts


class ApiRootView(PublicDocument):
    def get(self, request: HttpRequest) -> HttpResponse:
        paths = {
            "docs": DOCS_PATH,
            "guide": GUIDE_PATH,
            "operations": OPERATIONS_PATH,
            "errors": ERRORS_PATH,
            "schema": "/api/schema",
        }
        links = {name: f"{settings.BASE_URL}{path}" for name, path in paths.items()}
        return JsonResponse({"success": True, "data": links})


@on_own_hosts
def llms_txt(request: HttpRequest) -> HttpResponse:
    pages = [*PAGES, ("OpenAPI description", "/api/schema", "The same for programs, as OpenAPI 3.1.")]
    lines = [f"- [{title}]({settings.BASE_URL}{path}): {summary}" for title, path, summary in pages]
    text = "\n".join(
        [
            f"# {settings.BRAND_NAME or settings.SPECTACULAR_SETTINGS['TITLE']}",
            "",
            "> Short links, their statistics and QR codes, with a JSON API.",
            "",
            f"Agents call the API as tools at {settings.BASE_URL}/mcp.",
            "",
            "## Documentation",
            "",
            *lines,
            "",
        ]
    )
    response = HttpResponse(text, "text/plain; charset=utf-8")
    response["Cache-Control"] = "no-cache"
    response["X-Content-Type-Options"] = "nosniff"
    return response
